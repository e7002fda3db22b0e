"""Checks rules: every way in which they break the language, or may not mean what was meant.

>>> from gdl.checks.run import check_text
>>> rules, findings = check_text("(role you) (<= (legal you ?m) (true (can ?move)))")
>>> [d.code for d in findings if d.code.startswith("unsafe")]
['unsafe-head-variable']

The language is that of Love, Hinrichs, Haley, Schkufza, Genesereth: "General Game Playing:
Game Description Language Specification" (Stanford LG-2006-01, 2008).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gdl.checks.dependence import check_dependence
from gdl.checks.diagnostic import KINDS, Diagnostic, Severity, error, in_order, of_error
from gdl.checks.foreign import check_foreign, check_spelling
from gdl.checks.game import check_game
from gdl.checks.relations import check_relations
from gdl.checks.roots import roots_of
from gdl.checks.sentences import check_sentences
from gdl.checks.syntax import read_rules, without_comments_of_others
from gdl.checks.values import check_values
from gdl.compile.pipeline import compile_rules
from gdl.errors import GdlError, Place, TooLargeError
from gdl.rules import Rules
from gdl.syntax.notation import Notation
from gdl.syntax.sexpr import FAULTS
from gdl.syntax.writer import OwnNotation

_UNSTRATIFIED_NEGATION = error("unstratified-negation", "break the cycle: rules must be stratified")
_TOO_LARGE = error("too-large", "use fewer alternatives per rule")
_NOT_PLAYABLE = error("not-playable", "see the message")


def _check_playable(rules: Rules) -> Iterator[Diagnostic]:
    """An error where the rules cannot be normalized, flattened or stratified."""
    try:
        compile_rules(rules)
    except GdlError as fault:
        kind = _TOO_LARGE if isinstance(fault, TooLargeError) else _UNSTRATIFIED_NEGATION
        if kind is _TOO_LARGE or "its own negation" in fault.message:
            yield kind.at(fault.place or Place(), fault.message)
        else:
            yield of_error(fault)


__all__ = ["KINDS", "Diagnostic", "Severity", "check", "check_text"]


def check(rules: Rules) -> list[Diagnostic]:
    """Everything that is wrong or doubtful in rules that could be parsed, the worst first. Rules without an
    error (:attr:`Severity.ERROR`) can be played; many public games have warnings. What only the text shows
    (syntax, spelling) is :func:`check_text`'s."""
    families = (
        *(check_foreign, check_spelling, check_sentences, check_relations),
        *(check_values, check_game, check_dependence),
    )
    findings = roots_of((finding for family in families for finding in family(rules)), rules)
    if not any(d.severity is Severity.ERROR for d in findings):
        findings += _check_playable(rules)
    return in_order(_in_own_notation(findings, rules))


def check_text(
    text: str, name: str = "", notation: Notation = "auto"
) -> tuple[Rules | None, list[Diagnostic]]:
    """Parse and check a text, past as many faults as it has; messages call it ``name``.

    Returns the rules, or None where some sentence could not be read, and the findings, the worst first. Where
    sentences are missing, it reports besides syntax errors only findings that need no other sentence.
    """
    rules, findings = read_rules(text, name, notation)
    faulty = any(d.severity is Severity.ERROR for d in findings)
    findings = [
        *_in_own_notation(findings, rules),
        *(roots_of(check_sentences(rules), rules) if faulty else check(rules)),
    ]
    if rules.notation == "kif":
        findings = without_comments_of_others(text, findings)
    return None if faulty else rules, in_order(findings)


def _in_own_notation(findings: list[Diagnostic], rules: Rules) -> list[Diagnostic]:
    """The findings with the samples in their remedies in the notation of the rules."""
    own = OwnNotation(rules)
    return [
        replace(d, remedy=own.sample(d.remedy)) if d.remedy in _fixed_remedies(d.code) else d
        for d in findings
    ]


def _fixed_remedies(code: str) -> tuple[str, ...]:
    """The remedies of a code that do not depend on the rules: their samples are KIF."""
    kind = KINDS.get(code)
    return (*([] if kind is None else [kind.remedy]), *FAULTS.get(code, ())[1:])
