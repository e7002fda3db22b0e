"""What is wrong with rules: one module for each family of findings.

:mod:`~gdl.checks.diagnostic` says what a finding is; :mod:`~gdl.checks.run` calls the families: ``syntax``
(text and characters), ``sentences`` (each rule by itself), ``relations`` (names), ``foreign`` (misspelt
words, and what other languages have), ``game`` (what a game needs), ``dependence`` (what reads what); at the
end it tries whether the rules compile.
"""
