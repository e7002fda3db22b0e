"""The errors of this package, each with place, fault and remedy; checks of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TypeVar

from gdl.visible import visible
from gdl.words import counted

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a rules text. ``line`` and ``column`` count from 1; 0 means unknown."""

    line: int = 0
    column: int = 0

    @classmethod
    def of(cls, text: str, offset: int) -> Place:
        """The place of a character in a text whose lines end in LF."""
        return cls(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


class GdlError(Exception):
    """Something is wrong with rules, a move, or a state that came from outside.

    Attributes:
        message: what is wrong, one sentence, no trailing full stop.
        place: where in the text, None if unknown.
        remedy: what to do about it; may be empty.
        source: name of the file or message; may be empty.
        code: a short name of the kind of fault (``unclosed-parenthesis``); may be empty.
    """

    def __init__(
        self, message: str, place: Place | None = None, remedy: str = "", source: str = "", code: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.place = place
        self.remedy = remedy
        self.source = source
        self.code = code

    def __str__(self) -> str:
        where, place = self.source, self.place
        if place is not None:
            where = f"{where}:{place}" if where else f"line {place.line}, column {place.column}"
        text = f"{where}: {self.message}" if where else self.message
        return visible(f"{text} ({self.remedy})" if self.remedy else text)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.place, self.remedy, self.source, self.code)


class FileError(GdlError):
    """A file that cannot be read: it is not a regular file, is too large, or permission is denied."""


class MissingFileError(FileError):
    """There is no such file."""


class ParseError(GdlError):
    """The text is not KIF: unbalanced parentheses, nothing to read, too deep, too large."""


class RulesError(GdlError):
    """The text is KIF, but not rules that can be played (no role, unstratified negation...)."""


class TooLargeError(GdlError):
    """Grounding or building went past its limit of memory, time or number of rules."""


class MoveError(GdlError):
    """A move that is unknown or not legal in the state at hand."""


class StateError(GdlError):
    """A state that this machine cannot represent, or a question that the state has no answer to."""


class StuckError(MoveError):
    """A match that cannot go on: a role has no legal move in a state that is not terminal."""


def whole_number(value: object, name: str, least: int = 0, most: int = 2**63 - 1) -> int:
    """The argument ``name`` as an int, whichever kind of integer it is. Raises GdlError if it is not a whole
    number from ``least`` to ``most``; True and False are none."""
    if not isinstance(value, bool) and isinstance(value, Integral) and least <= int(value) <= most:
        return int(value)
    raise GdlError(f"{name} is {value!r:.60}", remedy=f"give a whole number from {least:,} to {most:,}")


def real_number(value: object, name: str, least: float, most: float) -> float:
    """The argument ``name`` as a float. Raises GdlError if it is not a number from ``least`` to ``most``."""
    if not isinstance(value, bool) and isinstance(value, Real) and least <= float(value) <= most:
        return float(value)
    raise GdlError(f"{name} is {value!r:.60}", remedy=f"give a number from {least:,} to {most:,}")


def or_error(make: Callable[[], T]) -> T | GdlError:
    """The result of ``make``, or the error that it raises, so that one bad item does not stop the others."""
    try:
        return make()
    except GdlError as error:
        return error


def sound(item: T | GdlError) -> T:
    """The item. Raises the error that stands in its place."""
    if isinstance(item, GdlError):
        raise item
    return item


def cannot_play(role: object, move: object, legal: Sequence[str], fault: str = "not legal here") -> MoveError:
    """The error for a move that a role may not make where these are legal; it names a few of them."""
    some = f", such as {', '.join(sorted(legal)[:4])}" if legal else ""
    remedy = f"it has {counted(len(legal), 'legal move')}{some}"
    return MoveError(f"{role} cannot play {move!r:.60}: {fault}", remedy=remedy)
