"""Tables over n-tuples.

:mod:`~players.knowledge.tuples.finder` finds from the rules what is looked at together,
:mod:`~players.knowledge.tuples.multi_valued` which propositions exclude each other,
:mod:`~players.knowledge.tuples.tables` is how one machine's states are looked up, by
:mod:`~players.knowledge.tuples.kernels`.
"""
