"""Diagnostics: findings with message, severity, place and remedy."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import partial

from gdl.errors import GdlError, Place


class Severity(IntEnum):
    """The severity of a finding; greater is worse."""

    INFO = 0
    """Style: the rules mean what they seem to mean."""

    WARNING = 1
    """The rules break the language or probably do not mean what their author meant; they play."""

    ERROR = 2
    """The rules cannot be played."""

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The match that shows a finding: joint moves from the initial state, a text for each role, and the
    true propositions of the state that they lead to."""

    moves: tuple[tuple[str, ...], ...]
    state: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    Attributes:
        code: the kind of finding in kebab case, ``unsafe-head-variable``; one of :data:`KINDS`.
        severity: how bad it is.
        place: line and column, from 1; 0:0 where it concerns the text as a whole.
        message: what is wrong, one sentence without a full stop.
        remedy: what the author can do.
        evidence: the match in which it was found, where it was found by playing.
    """

    code: str
    severity: Severity
    place: Place
    message: str
    remedy: str
    evidence: Evidence | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}[{self.code}]: {self.message}"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of finding: its code and severity are the same wherever it is found, and mostly its remedy."""

    code: str
    severity: Severity
    remedy: str

    def at(
        self, place: Place, message: str, evidence: Evidence | None = None, remedy: str = ""
    ) -> Diagnostic:
        """A finding of this kind, with a remedy of its own where one is given."""
        return Diagnostic(self.code, self.severity, place, message, remedy or self.remedy, evidence)


KINDS: dict[str, Kind] = {}
"""Every kind of finding by its code; filled by the modules that find them."""


def _declare(severity: Severity, code: str, remedy: str) -> Kind:
    return KINDS.setdefault(code, Kind(code, severity, remedy))


error = partial(_declare, Severity.ERROR)
warning = partial(_declare, Severity.WARNING)
info = partial(_declare, Severity.INFO)
"""Each declares a kind of finding from its code and remedy."""


def of_error(fault: GdlError) -> Diagnostic:
    """An exception as a diagnostic."""
    return Diagnostic(
        fault.code or "not-playable", Severity.ERROR, fault.place or Place(), fault.message, fault.remedy
    )


def in_order(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The worst first, those of one severity in the order of the text, and none twice."""
    return sorted(dict.fromkeys(findings), key=lambda d: (-d.severity, d.place.line, d.place.column, d.code))


def first_each(findings: Iterable[tuple[Hashable, Diagnostic]]) -> Iterator[Diagnostic]:
    """The first finding about each subject."""
    subjects = set()
    for subject, diagnostic in findings:
        if subject not in subjects:
            subjects.add(subject)
            yield diagnostic
