"""Players that learn from sampled matches what is good in an information set.

Read ``recollection`` (possible states with what everybody has observed, and numbers for the actions of each
information set), then ``ismcts``; ``outcome_sampling`` and ``mccfr``.
"""
