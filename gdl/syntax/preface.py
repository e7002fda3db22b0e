r"""What comments of rules say to people: how to play, the kinds of the game, and words for what a role sees.

    ; how to play: Get three of your marks in a row. X begins, and you take turns to
    ;   mark an empty square.
    ; kinds: board game, line game
    ; what you see: Your own marks, not the other's.
    ; sees: (lands ?y) as your disc lands in row ?y

A hint goes on over the comment lines below it that are indented by two columns or more. The kinds are words
of KINDS, by which pages filter. The words of ``sees`` stand for percepts and facts of this form.

>>> found, faults = read_preface("; how to play: Bite.\n;   And win.\n; kinds: board game, opera")
>>> found.how, found.kinds
('Bite. And win.', ('board game',))
>>> print(*faults, sep="\n")
3:3: there is no kind 'opera'

>>> found, _ = read_preface("; sees: (lands ?y) as your disc lands in row ?y")
>>> found.words("(lands 3)"), found.words("(under_fire a 1)")
('your disc lands in row 3', 'under fire a 1')
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

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
_LONGEST = 200
"""Characters of a hint of another kind."""
_MOST = 32
"""Words of ``sees``, and kinds, that are read."""
_MARK = r"[ \t]*(?:;+|%+|//+|#+)"
_HINT = re.compile(
    rf"^{_MARK}[ \t]*(how to play|kinds|what you see|sees):"
    rf"([^\n]*(?:\n{_MARK}[ \t]{{2,}}\S[^\n]*)*)",
    re.MULTILINE,
)
_NEXT_LINE = re.compile(rf"\n{_MARK}")
_TOKEN = re.compile(r"[()]|[^\s()]+")
_VARIABLE = re.compile(r"\?\w+")


@dataclass(frozen=True, slots=True)
class Preface:
    """What rules say to people.

    Attributes:
        how: how to play, on one line; empty if the rules do not say. ``sight`` is what a role sees.
        kinds: some of KINDS.
        sees: words for percepts and facts: the parts of the form, and the words, both with variables.
    """

    how: str = ""
    sight: str = ""
    kinds: tuple[str, ...] = ()
    sees: tuple[tuple[tuple[str, ...], str], ...] = ()

    def words(self, text: str) -> str:
        """A percept or a fact in words, given in KIF."""
        parts = _TOKEN.findall(text)
        for form, words in self.sees:
            bound = _bound(form, parts)
            if bound is not None:
                return _VARIABLE.sub(lambda found, bound=bound: bound.get(found[0], found[0]), words)
        return " ".join(part for part in parts if part not in "()").replace("_", " ")


def _bound(form: Sequence[str], parts: Sequence[str]) -> dict[str, str] | None:
    """What the variables of a form stand for in a term; None if it has another form."""
    if len(form) != len(parts):
        return None
    bound: dict[str, str] = {}
    for own, part in zip(form, parts, strict=True):
        if own.startswith("?") and part not in "()":
            if bound.setdefault(own, part) != part:
                return None
        elif own.lower() != part.lower():
            return None
    return bound


@dataclass(frozen=True, slots=True)
class _PrefaceFault:
    """A fault of such a hint, with its place and a remedy."""

    place: Place
    message: str
    remedy: str = field(compare=False, default="")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


def read_preface(text: str) -> tuple[Preface, tuple[_PrefaceFault, ...]]:
    """What a text says to people, and the faults of wrong hints. Except for ``sees`` the first of a kind
    counts."""
    said: dict[str, str] = {}
    kinds: dict[str, None] = {}
    sees: list[tuple[tuple[str, ...], str]] = []
    faults: list[_PrefaceFault] = []
    for found in islice(_HINT.finditer(text), 2 * _MOST):
        name, place = found[1], Place.of(text, found.start(1))
        longest = LONGEST_HOW if name == "how to play" else _LONGEST
        words = " ".join(_NEXT_LINE.sub(" ", found[2][: 8 * longest]).split())
        if name in said:
            faults.append(_PrefaceFault(place, f"{name!r} is there twice", "leave one of them out"))
            continue
        if not 0 < len(words) <= longest:
            fault = f"is longer than {longest:,} characters" if words else "is empty"
            faults.append(_PrefaceFault(place, f"{name!r} {fault}", "write sentences for people"))
        words = shortened(visible(words[: longest + 1]), longest)
        if name == "sees":
            form, _, meant = words.partition(" as ")
            variables = set(_VARIABLE.findall(meant)) - set(_VARIABLE.findall(form))
            if not meant or variables or len(sees) >= _MOST:
                remedy = "write: sees: (lands ?y) as your disc lands in row ?y"
                faults.append(_PrefaceFault(place, "these words cannot be used", remedy))
            else:
                sees.append((tuple(_TOKEN.findall(form)), meant))
            continue
        said[name] = words
        if name == "kinds":
            for kind in (kind.strip() for kind in words.lower().split(",")):
                if kind not in KINDS:
                    fault = f"there is no kind {kind[:30]!r}"
                    faults.append(_PrefaceFault(place, fault, f"some of: {', '.join(KINDS)}"))
                else:
                    kinds[kind] = None
    preface = Preface(said.get("how to play", ""), said.get("what you see", ""), tuple(kinds), tuple(sees))
    return preface, tuple(faults)


def preface_lines(how: str, kinds: str) -> list[str]:
    """The lines that say how to play and the kinds, for a comment at the head of written rules; without the
    comment's mark."""
    return [*textwrap.wrap(f"how to play: {how}", 92, subsequent_indent="  "), f"kinds: {kinds}"]
