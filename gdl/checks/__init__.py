"""Finds faults in rules.

:mod:`~gdl.checks.diagnostic` defines findings. :mod:`~gdl.checks.run` calls the families: ``relations`` (each
rule by itself, and names), ``foreign`` (misspelt words, and constructs of other languages), and its own: text
and characters, parts that a game needs, dependencies between relations. At the end it tries to compile the
rules.
"""
