r"""What a comment of the rules says about their picture: ``; draw: wp as pawn in white``.

The text of such a hint is ``draw: WHAT as LOOK`` or ``draw: WHAT as LOOK in COLOUR``, on a line of its own.
WHAT is a thing on a square in the words of the rules (``wp``, ``arrow``, ``red king``). With ``*`` at its end
it is every thing that begins so. ``board`` is the board itself. LOOK and COLOUR are among the words below,
and mean nothing but a shape and a colour: rules of strangers choose among our pictures and add none.

>>> hints, faults = read_hints("; draw: wp as pawn in white\n; draw: tree as oak")
>>> hints
(PictureHint(words=('wp',), look='pawn', colour='white', every=False),)
>>> print(*faults, sep="\n")
2:3: there is no look 'oak'
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gdl.errors import Place


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOOKS = _words(
    """area bishop block card crate crown cross die disc goal hidden keeper king knight lamp letter man mark
    number pawn peg queen ring rook tile trail wall"""
)
"""What a thing may look like."""
BOARDS = _words("chequered plain points towers")
"""What a board may look like."""
HINT_COLOURS = _words("black blue brown cyan gray green magenta orange pink red white yellow")
MOST_HINTS = 64
_MOST_WORDS = 8
_LONGEST = 200
_LINE = re.compile(r"^[ \t]*(?:;+|%+|//+|#+)[ \t]*(draw:[^\n]*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PictureHint:
    """What a thing is to look like.

    Attributes:
        words: the thing's words, in lower case; ``("board",)`` for the board.
        look: one of LOOKS, or of BOARDS for the board.
        colour: one of HINT_COLOURS; empty where nothing is said.
        every: whether all things that begin with these words are meant.
    """

    words: tuple[str, ...]
    look: str
    colour: str = ""
    every: bool = False


@dataclass(frozen=True, slots=True)
class HintFault:
    """What is wrong with a hint, and where."""

    place: Place
    message: str
    remedy: str = field(compare=False, default="")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def read_hints(text: str) -> tuple[tuple[PictureHint, ...], tuple[HintFault, ...]]:
    """The hints of a text, and what is wrong with others. At most MOST_HINTS are read."""
    hints: list[PictureHint] = []
    faults: list[HintFault] = []
    for found in _LINE.finditer(text):
        if len(hints) + len(faults) >= MOST_HINTS:
            faults.append(_fault(text, found, f"there are more than {MOST_HINTS} hints", "leave some out"))
            break
        read = _read(found[1].removeprefix("draw:"))
        if isinstance(read, PictureHint):
            hints.append(read)
        else:
            faults.append(_fault(text, found, *read))
    return tuple(hints), tuple(faults)


def _fault(text: str, found: re.Match[str], message: str, remedy: str) -> HintFault:
    at = found.start(1)
    line = text.count("\n", 0, at) + 1
    return HintFault(Place(line, at - text.rfind("\n", 0, at)), message, remedy)


def _read(said: str) -> PictureHint | tuple[str, str]:
    """A hint, or what is wrong with it and what to do."""
    words = said.lower().split()
    if len(said) > _LONGEST:
        return "this hint is too long", f"use at most {_LONGEST} characters"
    if "as" not in words[1:]:
        return "this hint has no 'as'", "write: draw: THING as LOOK"
    place = len(words) - 1 - words[::-1].index("as")
    what, look = words[:place], words[place + 1 :]
    every = what[-1] == "*"
    what = what[: len(what) - every]
    if not what or len(what) > _MOST_WORDS:
        return "this hint names no thing", "write the words of one thing before 'as'"
    if not (len(look) == 1 or (len(look) == 3 and look[1] == "in")):
        return "this hint does not end as it should", "write: draw: THING as LOOK in COLOUR"
    known, kind = (BOARDS, "look of a board") if what == ["board"] else (LOOKS, "look")
    if look[0] not in known:
        return f"there is no {kind} {look[0][:30]!r}", f"one of {', '.join(sorted(known))}"
    if len(look) == 3 and look[2] not in HINT_COLOURS:
        return f"there is no colour {look[2][:30]!r}", f"one of {', '.join(sorted(HINT_COLOURS))}"
    return PictureHint(tuple(what), look[0], look[2] if len(look) == 3 else "", every)
