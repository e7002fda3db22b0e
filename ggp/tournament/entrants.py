"""Who takes part in a tournament: players of this program by name, others by address."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gdl.errors import GdlError
from ggp.protocol.address import parse_address
from players.processes.limits import cores
from players.registry import check_name, check_public, is_registered
from players.spec import read_names, read_spec

ALL_CORES = "all"
"""What ``workers=`` may be besides a number: all cores that the tournament has."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """One participant.

    Attributes:
        label: what it is called in tables; no two entrants share one.
        spec: ``uct:exploration=0.4``, ``module:Class`` or ``http://host:port``.
    """

    label: str
    spec: str

    @property
    def remote(self) -> bool:
        """Whether it is reached over HTTP."""
        return "://" in self.spec

    def cores(self, available: int) -> int:
        """How many of our cores it keeps busy: its workers, or one; none where it is reached over HTTP."""
        return 0 if self.remote else max(1, self.workers(available))

    def workers(self, available: int) -> int:
        """How many processes it searches with besides its own."""
        wanted = self._workers()
        if wanted == ALL_CORES:
            return available
        return int(wanted) if wanted.isdigit() else 0

    def _workers(self) -> str:
        if self.remote or not is_registered(self.spec):
            return ""
        return (read_spec(self.spec).option("workers") or "").lower()

    def local_name(self, available: int) -> str:
        """The name for the registry, with its workers as a number."""
        return re.sub(rf"\bworkers\s*=\s*{ALL_CORES}\b", f"workers={available}", self.spec)


def parse_entrants(texts: Sequence[str]) -> list[Entrant]:
    """Entrants from ``uct:workers=1,random``, ``old@http://host:9147``, ``module:Class``.

    What stands before an ``@`` is the entrant's label; otherwise the whole text is. Raises GdlError if a name
    or address does not exist, or a label comes twice.
    """
    entrants: list[Entrant] = []
    for text in (name for names in texts for name in read_names(names)):
        label, at, spec = text.partition("@")
        entrant = Entrant(label.strip(), spec.strip()) if at else Entrant(text, text)
        if not entrant.label or not entrant.label.isprintable():
            raise GdlError(f"{text!r} has no name before the @")
        if entrant.remote:
            parse_address(entrant.spec)
        elif is_registered(entrant.spec):
            check_name(entrant.local_name(1))
        else:
            check_name(entrant.spec)
        if any(entrant.label == earlier.label for earlier in entrants):
            raise GdlError(
                f"two players are called {entrant.label}",
                remedy=f"give them names: one@{entrant.spec},two@{entrant.spec}",
            )
        entrants.append(entrant)
    return entrants


def refusal(label: str, why: str) -> str:
    """The error of a match that could not be run because this player cannot play."""
    return f"{label} cannot play: {why}"


def why_refused(label: str, error: str) -> str:
    """Why this player cannot play, from the error of a match; empty if the error is not about it."""
    head = refusal(label, "")
    return error.removeprefix(head) if error.startswith(head) else ""


def check_kept(kept: Iterable[Entrant], given: Iterable[Entrant], database: str) -> None:
    """Checks the entrants that a tournament's file names before they play.

    A file may be a stranger's. So a class, an address, and an option that loads or opens something count only
    if the command line names them too; the file's are compared with these.

    Args:
        kept: all entrants of the tournament.
        given: those of the command line.
        database: the file's name, for the message.

    Raises:
        GdlError: a name of the file is no player, or has to be given on the command line.
    """
    named = {entrant.spec for entrant in given}
    missing: list[str] = []
    for entrant in kept:
        if entrant.spec in named:
            continue
        try:
            if entrant.remote:
                raise GdlError(f"{entrant.spec} is an address")
            check_public(entrant.local_name(cores()))
        except GdlError:
            missing.append(
                entrant.spec if entrant.label == entrant.spec else f"{entrant.label}@{entrant.spec}"
            )
    if missing:
        raise GdlError(
            f"{database} names {', '.join(missing)}: not run because a file says so",
            remedy=f"if you trust them, name them on the command line too: --players '{','.join(missing)}'",
        )
