"""Checks rules: every way in which they break the language, or may not mean what was meant.

>>> from gdl.checks.run import check_text
>>> rules, findings = check_text("(role you) (<= (legal you ?m) (true (can ?move)))")
>>> [d.code for d in findings if d.code.startswith("unsafe")]
['unsafe-head-variable']

The language is that of Love, Hinrichs, Haley, Schkufza, Genesereth: "General Game Playing:
Game Description Language Specification" (Stanford LG-2006-01, 2008).

One slip gives one finding: a misspelt name leaves a variable of its rule without a value, then rules that can
never fire, a role without moves and a game without an end. Such consequences are left out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace

from gdl.checks.diagnostic import KINDS, Diagnostic, Severity, error, in_order, of_error
from gdl.checks.foreign import check_foreign, check_spelling
from gdl.checks.game import check_dependence, check_game
from gdl.checks.relations import check_relations, check_values
from gdl.checks.sentences import check_sentences
from gdl.checks.syntax import read_rules, without_comments_of_others
from gdl.compile.pipeline import compile_rules
from gdl.errors import GdlError, Place, TooLargeError
from gdl.rules import Rules
from gdl.syntax.notation import Notation
from gdl.syntax.sexpr import FAULTS
from gdl.syntax.writer import OwnNotation


def _codes(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SLIPS = _codes(
    """arity-mismatch connective-alone function-arity-mismatch init-in-body keyword-arity keyword-as-head
    keyword-in-term misspelt-keyword misspelt-relation misspelt-variable move-without-does next-in-body
    not-in-gdl relation-as-value state-without-next state-without-true undefined-relation unknown-role
    variable-without-mark"""
)
"""Kinds of faults that are confined to one place."""
_OF_RULE = _codes(
    """contradictory-body next-in-body no-such-value rule-implies-itself singleton-variable
    unsafe-distinct unsafe-head-variable unsafe-negated-variable"""
)
"""Kinds that follow from a slip in the same rule."""
_MISSING = _codes("missing-role missing-legal missing-terminal missing-goal missing-init missing-next")
_NEVER = _codes("move-never-legal proposition-never-true")
_VALUE = _codes("no-such-value")
_OF_GAME = _codes(
    """base-incomplete does-in-goal does-in-init does-in-legal does-in-terminal goal-missing-for-role
    input-incomplete legal-missing-for-role negative-cycle recursion-restriction role-depends-on-state
    role-not-ground-fact state-in-base state-in-input state-not-kept true-in-init unreachable-rule
    unused-relation"""
)
"""Kinds that follow from a slip, or from a missing part, anywhere in the game."""


def roots_of(findings: Iterable[Diagnostic], rules: Rules) -> list[Diagnostic]:
    """The findings that do not follow from others. At each place only the worst one stays, or the first of
    equally bad ones, so put the causes first. Errors always stay: rules without errors can be played."""
    starts = sorted((rule.place.line, rule.place.column) for rule in rules)

    def rule_at(place: Place) -> int:
        return bisect_right(starts, (place.line, place.column))

    by_place: dict[tuple[Place, str], Diagnostic] = {}
    for finding in sorted(findings, key=lambda d: -d.severity):
        by_place.setdefault((finding.place, "" if finding.place.line else finding.message), finding)
    worst = list(by_place.values())
    codes = {d.code for d in worst}
    follows: frozenset[str] = frozenset()
    for causes, effects in (
        (_SLIPS, _MISSING | _NEVER | _VALUE | _OF_GAME),
        (_MISSING, _NEVER | _VALUE | _OF_GAME),
        (_NEVER, _VALUE | _OF_GAME),
        (_VALUE, _OF_GAME),
        ({"keyword-as-head", "keyword-in-term", "connective-in-term"}, {"undefined-relation"}),
    ):
        if not codes.isdisjoint(causes):
            follows |= effects
    faulty = {rule_at(d.place) for d in worst if d.code in _SLIPS - _OF_RULE}
    doubtful = faulty | {rule_at(d.place) for d in worst if d.code in _VALUE - follows}

    def is_root(d: Diagnostic) -> bool:
        if d.severity is Severity.ERROR:
            return True
        at_fault = faulty if d.code in _VALUE else doubtful
        return not (d.code in follows or (d.code in _OF_RULE and rule_at(d.place) in at_fault))

    return _at_their_slips([d for d in worst if is_root(d)])


def _at_their_slips(findings: list[Diagnostic]) -> list[Diagnostic]:
    """The findings, with an error such as a missing ``legal`` moved to the misspelt word that caused it."""
    for slip in [d for d in findings if d.code == "misspelt-keyword"]:
        for fault in [d for d in findings if d.severity is Severity.ERROR and d.code in _MISSING]:
            if f"did you mean {fault.code.removeprefix('missing-')!r}?" in slip.message:
                findings = [d for d in findings if d not in (slip, fault)]
                findings.append(replace(fault, place=slip.place, message=slip.message, remedy=slip.remedy))
    return findings


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
