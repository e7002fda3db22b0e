r"""What the comment at the head of rules says to people: how to play, and the kinds of the game.

    ; how to play: Get three of your marks in a row. X begins, and you take turns to
    ;   mark an empty square.
    ; kinds: board game, line game

A hint goes on over the comment lines below it that are indented by two columns or more. The kinds are words
of KINDS, by which pages filter.

>>> found, faults = read_preface("; how to play: Bite.\n;   And win.\n; kinds: board game, opera")
>>> found
Preface(how='Bite. And win.', kinds=('board game',))
>>> print(*faults, sep="\n")
3:10: there is no kind 'opera'
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field

from gdl.errors import Place
from gdl.visible import visible
from gdl.words import shortened

KINDS = (
    "against chance", "at the same time", "bluffing game", "board game", "capture game", "card game",
    "connection game", "dice game", "guessing game", "hidden information", "line game", "number game",
    "paper and pencil", "puzzle", "race", "sowing game", "territory game",
)  # fmt: skip
LONGEST_HOW = 2000
"""Characters; the rest is left out from the last sentence's end."""
_MOST_KINDS = 8
_MARK = r"[ \t]*(?:;+|%+|//+|#+)"
_HINT = re.compile(
    rf"^{_MARK}[ \t]*(how to play|kinds):([^\n]*(?:\n{_MARK}[ \t]{{2,}}\S[^\n]*)*)", re.MULTILINE
)
_NEXT_LINE = re.compile(rf"\n{_MARK}")


@dataclass(frozen=True, slots=True)
class Preface:
    """What rules say to people.

    Attributes:
        how: how to play, on one line; empty if the rules do not say.
        kinds: some of KINDS.
    """

    how: str = ""
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _PrefaceFault:
    """A fault of such a hint, with its place and a remedy."""

    place: Place
    message: str
    remedy: str = field(compare=False, default="")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def read_preface(text: str) -> tuple[Preface, tuple[_PrefaceFault, ...]]:
    """What a text says to people, and the faults of wrong hints. The first hint of a kind counts."""
    said: dict[str, str] = {}
    faults: list[_PrefaceFault] = []

    def fault(offset: int, message: str, remedy: str) -> None:
        faults.append(_PrefaceFault(Place.of(text, offset), message, remedy))

    kinds: list[str] = []
    for found in _HINT.finditer(text):
        name, words = found[1], " ".join(_NEXT_LINE.sub(" ", found[2]).split())
        if name in said:
            fault(found.start(1), f"{name!r} is said twice", "leave one of them out")
            break
        said[name] = words
        if name == "how to play" and not 0 < len(words) <= LONGEST_HOW:
            what = "is empty" if not words else f"is longer than {LONGEST_HOW:,} characters"
            fault(found.start(1), f"this text {what}", "write four to ten sentences")
        if name == "kinds":
            given = words.lower().split(",", _MOST_KINDS)
            for kind in (kind.strip() for kind in given):
                if kind in KINDS and len(kinds) < _MOST_KINDS:
                    kinds.append(kind)
                else:
                    message = f"there is no kind {kind[:30]!r}"
                    fault(found.start(2), message, f"at most {_MOST_KINDS} of: {', '.join(KINDS)}")
    how = shortened(visible(said.get("how to play", "")[: LONGEST_HOW + 1]), LONGEST_HOW)
    return Preface(how, tuple(dict.fromkeys(kinds))), tuple(faults)


def preface_lines(how: str, kinds: str) -> list[str]:
    """The lines that say how to play and the kinds, for a comment at the head of written rules; without the
    comment's mark."""
    return [*textwrap.wrap(f"how to play: {how}", 92, subsequent_indent="  "), f"kinds: {kinds}"]
