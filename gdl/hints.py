r"""Hints in comments of rules, and the reader of all of them: ``; draw: wp as pawn in white``.

A hint for the picture is ``draw: WHAT as LOOK`` or ``draw: WHAT as LOOK in COLOUR``, on a line of its own.
WHAT is a thing on a square in the words of the rules (``wp``, ``arrow``, ``red king``). With ``*`` at its end
it is every thing that begins with these words. ``board`` is the board itself, ``square a 1`` one square. LOOK
and COLOUR are among the words below, and mean nothing but a shape and a colour: rules of strangers choose
among our pictures and add none. A look that shows a sign may be followed by it, ``draw: 11 as tile 2048``: a
few letters and digits. ``called`` at the end gives the thing a name for people, ``draw: round * as note
called round * of 10``; a ``*`` in it stands for the numbers and words that ``*`` stands for in WHAT.

>>> hints, faults = read_hints("; draw: wp as pawn in white\n; draw: 3 as tile 8\n; draw: tree as oak")
>>> print(*hints, sep="\n")
PictureHint(words=('wp',), look='pawn', colour='white', every=False, sign='', name='')
PictureHint(words=('3',), look='tile', colour='', every=False, sign='8', name='')
>>> print(*faults, sep="\n")
3:3: there is no look 'oak'

Hints for words say how people speak about moves and ends: ``; notation: san``, ``; say: (bid ?n) as bid ?n``,
``; ends: (bare ?r) as ?r has no seeds left``. :mod:`gdl.phrases` reads what they are about.

>>> hints, faults = read_word_hints("; notation: san check in_check\n; ends: p as q where (r ?x)\n; say: p")
>>> print(*hints, sep="\n")
WordHint(kind='notation', what='san', text='', where='in_check')
WordHint(kind='ends', what='p', text='q', where='(r ?x)')
>>> print(*faults, sep="\n")
3:3: this hint has no 'as'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from gdl.errors import Place


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


LOOKS = _words(
    """across area bar bishop block car card chips chocolate crate crown cross dice die disc dot doubles down
    fist goal goat hidden keeper king knight lamp less letter line loop man mark note number palm pawn peg
    pegs pin poison queen ring rook scissors score ship shot thumbdown thumbup tile token trail tray wall"""
)
"""The looks of a thing."""
FACTS = _words("card chips dice die note score")
"""Looks of facts that stand on no square: they lie on the table, around the board if there is one."""
SIGNS = _words("fist palm scissors thumbdown thumbup")
"""Looks of moves made at the same time: signs to click, which face each other afterwards."""
LINKS = _words("dot less letter line loop wall")
"""Looks of facts that name two squares: they are drawn between these."""
BOARDS = _words("chequered dark doors dots green lines none numbers pits plain points race towers")
"""The looks of a board; ``none`` if the true facts are better shown as a list."""
ROWS = _words("doors numbers")
"""Boards whose squares are the arguments of hinted relations with one argument."""
SIGNED = _words("card chips die letter line number tile token")
"""Looks that show a sign."""
HINT_COLOURS = _words("black blue brown cyan gray green magenta orange pink red white yellow")
MOST_HINTS = 64
"""Hints of one form that are read."""
LONGEST_HOW = 2000
"""Characters of how to play; the rest is left out from the last sentence's end."""
LONGEST_HINT = 200
"""Characters of another hint."""
_MOST_WORDS = 8
_Hint = TypeVar("_Hint")
_SIGN = re.compile(r"[0-9A-Za-z]{1,6}")
_CALLED = re.compile(r"(.*?\sas\s.*?)\scalled\s+(\S.*)", re.IGNORECASE)
_LONGEST_NAME = 40
MARK = r"[ \t]*(?:;+|%+|//+|#+)"
"""What comments begin with, in all notations."""
_LINE = re.compile(rf"^{MARK}[ \t]*((draw|notation|say|ends):([^\n]*))", re.MULTILINE)
_PROSE = re.compile(
    rf"^{MARK}[ \t]*((how to play|kinds|what you see|sees):"
    rf"([^\n]*(?:\n{MARK}[ \t]{{2,}}\S[^\n]*)*))",
    re.MULTILINE,
)
"""Hints for people, which go on over the lines below that are indented by two columns or more."""
_NEXT_LINE = re.compile(rf"\n{MARK}")


@dataclass(frozen=True, slots=True)
class PictureHint:
    """The look of a thing.

    Attributes:
        words: the thing's words, in lower case; ``("board",)`` for the board.
        look: one of LOOKS, or of BOARDS for the board.
        colour: one of HINT_COLOURS; empty for none.
        every: whether all things that begin with these words are meant.
        sign: the letters and digits to show; empty for none.
        name: what people call it; empty for the rules' own words.
    """

    words: tuple[str, ...]
    look: str
    colour: str = ""
    every: bool = False
    sign: str = ""
    name: str = ""

    @property
    def one_area(self) -> bool:
        """Whether it makes areas of one colour of several things, which then look the same."""
        return self.every and self.look == "area"


@dataclass(frozen=True, slots=True)
class HintFault:
    """A fault of a hint, with its place and a remedy."""

    place: Place
    message: str
    remedy: str = field(compare=False, default="")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


Fault = tuple[str, str]
"""A fault of a hint, and a remedy."""
Reader = Callable[[str, str, Place], _Hint | Fault]
"""Reads a hint, given its form, the text behind the colon, and its place."""


def read_hints(text: str) -> tuple[tuple[PictureHint, ...], tuple[HintFault, ...]]:
    """The hints of a text, and the faults of wrong ones. Reads at most MOST_HINTS."""
    return read_each(text, ("draw",), _read)


def read_word_hints(text: str) -> tuple[tuple[WordHint, ...], tuple[HintFault, ...]]:
    """The hints for words of a text, and the faults of wrong ones. Reads at most MOST_HINTS."""
    return read_each(text, ("notation", "say", "ends"), _read_words)


def read_each(
    text: str, forms: Sequence[str], read: Reader[_Hint], prose: bool = False
) -> tuple[tuple[_Hint, ...], tuple[HintFault, ...]]:
    """What hints of some forms are read as, and the faults of others; ``prose`` if they are for people."""
    hints: list[_Hint] = []
    faults: list[HintFault] = []
    for form, words, place in _lines(text, forms, prose):
        if len(hints) + len(faults) >= MOST_HINTS:
            faults.append(HintFault(place, f"there are more than {MOST_HINTS} hints", "leave some out"))
            break
        longest = LONGEST_HOW if form == "how to play" else LONGEST_HINT
        # Prose that is too long is shown as far as its last sentence.
        hint = read(form, words[: longest + 1], place) if prose or len(words) <= longest else None
        if hint is None or len(words) > longest:
            hint = "this hint is too long", f"use at most {longest:,} characters"
        if isinstance(hint, tuple):
            faults.append(HintFault(place, *hint))
        else:
            hints.append(hint)
    return tuple(hints), tuple(faults)


def _lines(text: str, forms: Sequence[str], prose: bool) -> Iterator[tuple[str, str, Place]]:
    """The form of each hint, its text as one line, and its place."""
    for found in (_PROSE if prose else _LINE).finditer(text):
        if found[2] in forms:
            words = _NEXT_LINE.sub(" ", found[3][: 8 * LONGEST_HOW]) if prose else found[3]
            yield (
                found[2],
                " ".join(words.split()) if prose else words.strip(),
                Place.of(text, found.start(1)),
            )


def board_hint(hints: Sequence[PictureHint]) -> str:
    """The look of the last hint for the board; empty if there is none."""
    return next((hint.look for hint in reversed(hints) if hint.words == ("board",) and not hint.every), "")


def _read(form: str, text: str, place: Place) -> PictureHint | Fault:
    called = _CALLED.fullmatch(text)
    text, name = (text, "") if called is None else (called[1], called[2].strip())
    if len(name) > _LONGEST_NAME or not name.isprintable():
        return f"the name {name[:30]!r} is too long", f"use at most {_LONGEST_NAME} characters"
    words = text.lower().split()
    if "as" not in words[1:]:
        return "this hint has no 'as'", "write: draw: THING as LOOK"
    at = len(words) - 1 - words[::-1].index("as")
    what, look = words[:at], words[at + 1 :]
    every = what[-1] == "*"
    what = what[: len(what) - every]
    if not what or len(what) > _MOST_WORDS:
        return "this hint names no thing", "write the words of one thing before 'as'"
    colour = look[-1] if len(look) > 2 and look[-2] == "in" else ""
    look = look[:-2] if colour else look
    if len(look) not in (1, 2) or "in" in look:
        return "this hint does not end as it should", "write: draw: THING as LOOK in COLOUR"
    whole = what == ["board"] and not every
    looks, kind = (BOARDS, "look of a board") if whole else (LOOKS, "look")
    if look[0] not in looks:
        return f"there is no {kind} {look[0][:30]!r}", f"one of {', '.join(sorted(looks))}"
    sign = text.split()[at + 2] if len(look) == 2 else ""
    if sign and look[0] not in SIGNED:
        return f"the look {look[0]!r} shows no sign", f"leave out {sign[:30]!r}"
    if sign and not _SIGN.fullmatch(sign):
        return f"{sign[:30]!r} cannot be shown", "use at most 6 letters and digits"
    if colour and colour not in HINT_COLOURS:
        return f"there is no colour {colour[:30]!r}", f"one of {', '.join(sorted(HINT_COLOURS))}"
    return PictureHint(tuple(what), look[0], colour, every, sign, name)


NOTATIONS = {"san": "check", "draughts": "from", "go": ""}
"""The notations of moves, each with the word before what it may add: how one sees that a king is in check,
the role from whose side squares are numbered."""
_WORDS_FOR = re.compile(r"(?P<what>.*?)\s+as\s+(?P<text>.*?)(?:\s+where\s+(?P<where>[(\w].*))?")


@dataclass(frozen=True, slots=True)
class WordHint:
    """Words for moves or for the end of a match.

    Attributes:
        kind: ``notation``, ``say`` for the words of a move, or ``ends`` for the reason of an end.
        what: one of NOTATIONS; otherwise what the words are for, in KIF: a move, or conditions on the state.
        text: the words; empty for a notation.
        where: further conditions in KIF, or what the notation adds; empty for none.
    """

    kind: str
    what: str
    text: str
    where: str = ""
    place: Place = field(compare=False, repr=False, default=Place())


def _read_words(kind: str, text: str, place: Place) -> WordHint | Fault:
    if not text.isprintable():
        return "this hint has characters that cannot be shown", "leave them out"
    if kind == "notation":
        name, _, more = text.partition(" ")
        if name not in NOTATIONS:
            return f"there is no notation {name[:30]!r}", f"one of {', '.join(sorted(NOTATIONS))}"
        word, _, rest = more.strip().partition(" ")
        if word != (NOTATIONS[name] if rest else ""):
            return "this hint does not end as it should", "write: notation: san check RELATION"
        return WordHint(kind, name, "", rest.strip(), place)
    found = _WORDS_FOR.fullmatch(text)
    if found is None:
        sample = "say: MOVE" if kind == "say" else "ends: CONDITION"
        return "this hint has no 'as'", f"write: {sample} as WORDS"
    return WordHint(kind, found["what"], found["text"], found["where"] or "", place)
