"""What is wrong with rules: one module for each family of findings.

:mod:`~gdl.checks.diagnostic` says what a finding is; :mod:`~gdl.checks.run` calls the families: ``syntax``,
``characters`` (text), ``sentences`` (each rule by itself), ``relations``, ``spelling`` (names), ``foreign``
(what other languages have), ``game`` (what a game needs), ``dependence`` (what reads what) and ``playable``
(whether the rules compile). ``walk`` goes over the literals and terms of rules.
"""
