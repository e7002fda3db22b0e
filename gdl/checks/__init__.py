"""What is wrong with rules: one module for each family of findings.

Read :mod:`~gdl.checks.diagnostic` (what a finding is), then :mod:`~gdl.checks.run`, which calls the families:
``syntax``, ``sentences`` (each rule by itself), ``relations`` (names), ``game`` (what a game needs),
``dependence`` (what reads what) and ``playable`` (whether the rules compile).
"""
