r"""What comments of rules say to people: how to play, the kinds of the game, and words for what a role sees.

    ; how to play: Get three of your marks in a row. X begins, and you take turns to
    ;   mark an empty square.
    ; kinds: board game, line game
    ; what you see: Your own marks, not the other's.
    ; sees: (lands ?y) as your disc lands in row ?y

A hint goes on over the comment lines below it that are indented by two columns or more. Pages filter by the
kinds, words of KINDS. ``sees`` has words for percepts and facts of a form, each variable once; values are
filled in as in words for moves (:func:`gdl.words.fill`).

>>> found, faults = read_preface("; how to play: Bite.\n;   And win.\n; kinds: board game, opera")
>>> found.how, found.kinds
('Bite. And win.', ('board game',))
>>> list(map(str, faults))
["3:3: there is no kind 'opera'"]

>>> found, _ = read_preface("; sees: (lands ?y) as your disc lands in row ?y")
>>> found.words("(lands 3)"), found.words("(under_fire a 1)")
('your disc lands in row 3', 'under fire a 1')
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from gdl.errors import Place
from gdl.hints import LONGEST_HINT, LONGEST_HOW, Fault, HintFault, WordHint, read_each
from gdl.visible import visible
from gdl.words import fill, shortened, unnamed

KINDS = (
    "against chance", "at the same time", "bluffing game", "board game", "capture game", "card game",
    "connection game", "dice game", "guessing game", "hidden information", "line game", "number game",
    "paper and pencil", "puzzle", "race", "sowing game", "territory game",
)  # fmt: skip
_FORMS = ("how to play", "kinds", "what you see", "sees")
_VARIABLE = re.compile(r"\\?\?(\w+)")


@dataclass(frozen=True, slots=True)
class Preface:
    """What rules say to people.

    Attributes:
        how: how to play, on one line; empty if the rules do not say. ``sight`` is what a role sees.
        kinds: some of KINDS.
        sees: words for percepts and facts, which are given as regular expressions; ``where`` names the
            variables of their groups.
    """

    how: str = ""
    sight: str = ""
    kinds: tuple[str, ...] = ()
    sees: tuple[WordHint, ...] = ()

    def words(self, text: str) -> str:
        """A percept or a fact, given in KIF, in words."""
        found = ((re.fullmatch(hint.what, text, re.IGNORECASE), hint) for hint in self.sees)
        values = (
            (hint.text, zip(hint.where.split(), fits.groups(), strict=True)) for fits, hint in found if fits
        )
        said = next((fill(words, dict(each)) for words, each in values), "")
        return said or " ".join(re.sub("[()]", " ", text).split()).replace("_", " ")


def read_preface(text: str) -> tuple[Preface, tuple[HintFault, ...]]:
    """What a text says to people, and the faults of hints. Except for ``sees`` the first of each name
    counts."""
    said: dict[str, str] = {}

    def read(name: str, words: str, place: Place) -> WordHint | Fault:
        words = shortened(visible(words), LONGEST_HOW if name == "how to play" else LONGEST_HINT)
        hint = _sees(words, place) if name == "sees" else WordHint(name, "", words, place=place)
        if not words:
            return f"{name!r} is empty", "write sentences for people"
        if name != "sees" and said.setdefault(name, words) is not words:
            return f"{name!r} is there twice", "leave one of them out"
        if name == "kinds" and (unknown := {*_kinds(words)} - {*KINDS, ""}):
            return f"there is no kind {min(unknown)[:30]!r}", f"some of: {', '.join(KINDS)}"
        return hint or (f"{name!r} cannot be used", "write: sees: (lands ?y) as your disc lands in row ?y")

    hints, faults = read_each(text, _FORMS, read, prose=True)
    kinds = tuple(kind for kind in _kinds(said.get("kinds", "")) if kind in KINDS)
    sees = tuple(hint for hint in hints if hint.kind == "sees")
    return Preface(said.get("how to play", ""), said.get("what you see", ""), kinds, sees), faults


def _sees(text: str, place: Place) -> WordHint | None:
    """The hint of ``FORM as WORDS``; None if it cannot be used."""
    form, _, words = text.partition(" as ")
    names = _VARIABLE.findall(form.lower())
    if not words or unnamed(words, names) or len({*names}) < len(names):
        return None
    # Possessive, for variables side by side would be tried in all ways.
    pattern = _VARIABLE.sub(r"([^\\s()]++)", re.escape(" ".join(form.lower().split())))
    return WordHint("sees", pattern, words, " ".join(names), place=place)


def _kinds(words: str) -> list[str]:
    return list(dict.fromkeys(kind.strip() for kind in words.lower().split(",")))


def preface_lines(how: str, kinds: str) -> list[str]:
    """The lines that say how to play and the kinds, for the comment at the head of rules that are written."""
    return [*textwrap.wrap(f"how to play: {how}", 92, subsequent_indent="  "), f"kinds: {kinds}"]
