"""Selects the findings to show: one slip gives one finding, and its consequences are left out.

A misspelt name leaves a variable of its rule without a value, then rules that can never fire, a role without
moves and a game without an end. Once the author has corrected the slip, these are gone, or are shown.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import replace

from gdl.checks.diagnostic import Diagnostic, Severity
from gdl.errors import Place
from gdl.rules import Rules


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
        for error in [d for d in findings if d.severity is Severity.ERROR and d.code in _MISSING]:
            if f"did you mean {error.code.removeprefix('missing-')!r}?" in slip.message:
                findings = [d for d in findings if d not in (slip, error)]
                findings.append(replace(error, place=slip.place, message=slip.message, remedy=slip.remedy))
    return findings
