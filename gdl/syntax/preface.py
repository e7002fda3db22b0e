r"""What comments of rules say to people: how to play, the kinds of the game, and words for what a role sees.

    ; how to play: Get three of your marks in a row. X begins, and you take turns to
    ;   mark an empty square.
    ; kinds: board game, line game
    ; what you see: Your own marks, not the other's.
    ; sees: (lands ?y) as your disc lands in row ?y

A hint goes on over the comment lines below it that are indented by two columns or more. Pages filter by the
kinds, words of KINDS. ``sees`` has words for percepts and facts of a form, each variable once.

>>> found, faults = read_preface("; how to play: Bite.\n;   And win.\n; kinds: board game, opera")
>>> found.how, found.kinds
('Bite. And win.', ('board game',))
>>> [(str(place), message) for place, message, _ in faults]
[('3:3', "'kinds' has no 'opera'")]

>>> found, _ = read_preface("; sees: (lands ?y) as your disc lands in row ?y")
>>> found.words("(lands 3)"), found.words("(under_fire a 1)")
('your disc lands in row 3', 'under fire a 1')
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from functools import partial
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
"""Characters of how to play; the rest is left out from the last sentence's end."""
_LONGEST = 200
"""Characters of another hint."""
_MOST = 64
"""Hints that are read."""
_MARK = r"[ \t]*(?:;+|%+|//+|#+)"
_HINT = re.compile(
    rf"^{_MARK}[ \t]*(how to play|kinds|what you see|sees):"
    rf"([^\n]*(?:\n{_MARK}[ \t]{{2,}}\S[^\n]*)*)",
    re.MULTILINE,
)
_NEXT_LINE = re.compile(rf"\n{_MARK}")
_VARIABLE = re.compile(r"\\?\?(\w+)")


@dataclass(frozen=True, slots=True)
class Preface:
    """What rules say to people.

    Attributes:
        how: how to play, on one line; empty if the rules do not say. ``sight`` is what a role sees.
        kinds: some of KINDS.
        sees: percepts and facts as patterns, and words for them, in which variables are numbers of groups.
    """

    how: str = ""
    sight: str = ""
    kinds: tuple[str, ...] = ()
    sees: tuple[tuple[re.Pattern[str], str], ...] = ()

    def words(self, text: str) -> str:
        """A percept or a fact, given in KIF, in words."""
        for form, words in self.sees:
            if found := form.fullmatch(text):
                return _VARIABLE.sub(partial(_said, found), words)
        return " ".join(re.sub("[()]", " ", text).split()).replace("_", " ")


def _said(found: re.Match[str], variable: re.Match[str]) -> str:
    """What stands for a variable, which is the number of a group."""
    return found[int(variable[1])]


def _seen(text: str) -> tuple[re.Pattern[str], str] | None:
    """The pattern of ``FORM as WORDS``, and the words; None if they cannot be used."""
    form, _, words = text.partition(" as ")
    names = _VARIABLE.findall(form)
    if not words or not {*_VARIABLE.findall(words)} <= {*names} or len({*names}) < len(names):
        return None
    places = {name: number for number, name in enumerate(names, 1)}
    pattern = _VARIABLE.sub(r"([^\\s()]++)", re.escape(" ".join(form.split())))
    return re.compile(pattern, re.IGNORECASE), _VARIABLE.sub(lambda name: f"?{places[name[1]]}", words)


def read_preface(text: str) -> tuple[Preface, list[tuple[Place, str, str]]]:
    """What a text says to people, and the faults of hints: place, message, remedy. Except for ``sees`` the
    first of each name counts."""
    said: dict[str, str] = {}
    sees: list[tuple[re.Pattern[str], str]] = []
    faults: list[tuple[Place, str, str]] = []
    for found in islice(_HINT.finditer(text), _MOST):
        name, longest = found[1], LONGEST_HOW if found[1] == "how to play" else _LONGEST
        whole = " ".join(_NEXT_LINE.sub(" ", found[2][: 8 * longest]).split())
        words = shortened(visible(whole[: longest + 1]), longest)
        wrong, remedy = "" if whole else "is empty", "write sentences for people"
        if len(whole) > longest:
            wrong, remedy = f"is longer than {longest:,} characters", "say it in fewer words"
        elif name in said:
            wrong, remedy = "is there twice", "leave one of them out"
        elif name == "kinds" and (unknown := {*_kinds(words)} - {*KINDS, ""}):
            wrong, remedy = f"has no {min(unknown)[:30]!r}", f"some of: {', '.join(KINDS)}"
        elif name == "sees":
            remedy = "write: sees: (lands ?y) as your disc lands in row ?y"
            wrong = "" if (seen := _seen(words)) else "cannot be used"
            sees += [seen] if seen else []
        if wrong:
            faults.append((Place.of(text, found.start(1)), f"{name!r} {wrong}", remedy))
        if name != "sees":
            said.setdefault(name, words)
    kinds = tuple(kind for kind in _kinds(said.get("kinds", "")) if kind in KINDS)
    return Preface(said.get("how to play", ""), said.get("what you see", ""), kinds, tuple(sees)), faults


def _kinds(words: str) -> list[str]:
    return list(dict.fromkeys(kind.strip() for kind in words.lower().split(",")))


def preface_lines(how: str, kinds: str) -> list[str]:
    """The lines that say how to play and the kinds, for the comment at the head of rules that are written."""
    return [*textwrap.wrap(f"how to play: {how}", 92, subsequent_indent="  "), f"kinds: {kinds}"]
