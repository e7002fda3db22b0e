"""Finds faults in rules: one module for each family of findings.

:mod:`~gdl.checks.diagnostic` defines findings. :mod:`~gdl.checks.run` calls the families: ``syntax`` (text
and characters), ``sentences`` (each rule by itself), ``relations`` (names), ``foreign`` (misspelt words, and
constructs of other languages), ``game`` (parts that a game needs, dependencies between relations). At the
end it tries to compile the rules.
"""
