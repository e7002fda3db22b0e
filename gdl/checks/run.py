"""Checks rules: every way in which they break the language, or may not mean what was meant.

>>> from gdl.checks.run import check_text
>>> rules, findings = check_text("(role you) (<= (legal you ?m) (true (can ?move)))")
>>> [d.code for d in findings if d.code.startswith("unsafe")]
['unsafe-head-variable']

The language is that of Love, Hinrichs, Haley, Schkufza, Genesereth: "General Game Playing:
Game Description Language Specification" (Stanford LG-2006-01, 2008).
"""

from __future__ import annotations

from gdl.checks.dependence import check_dependence
from gdl.checks.diagnostic import KINDS, Diagnostic, Severity
from gdl.checks.game import check_game
from gdl.checks.playable import check_playable
from gdl.checks.relations import check_relations
from gdl.checks.sentences import check_sentences
from gdl.checks.spelling import check_spelling
from gdl.checks.syntax import read_rules
from gdl.rules import Rules
from gdl.syntax.notation import Notation

__all__ = ["KINDS", "Diagnostic", "Severity", "check", "check_text"]


def check(rules: Rules) -> list[Diagnostic]:
    """Everything that is wrong or doubtful in rules that could be parsed, in text order. Rules without an
    error (:attr:`Severity.ERROR`) can be played; many public games have warnings. What only the text shows
    (syntax, spelling) is :func:`check_text`'s."""
    families = check_sentences, check_spelling, check_relations, check_game, check_dependence
    findings = [finding for family in families for finding in family(rules)]
    if not any(d.severity is Severity.ERROR for d in findings):
        findings += check_playable(rules)
    return _in_order(findings)


def check_text(
    text: str, name: str = "", notation: Notation = "auto"
) -> tuple[Rules | None, list[Diagnostic]]:
    """Parse and check a text, past as many faults as it has; messages call it ``name``.

    Returns the rules, or None where some sentence could not be read, and the findings in text order. Where
    sentences are missing, it reports besides syntax errors only findings that need no other sentence.
    """
    rules, findings = read_rules(text, name, notation)
    if any(d.severity is Severity.ERROR for d in findings):
        return None, _in_order([*findings, *check_sentences(rules)])
    return rules, _in_order([*findings, *check(rules)])


def _in_order(findings: list[Diagnostic]) -> list[Diagnostic]:
    return sorted(dict.fromkeys(findings), key=lambda d: (d.place.line, d.place.column, -d.severity, d.code))
