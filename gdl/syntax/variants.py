r"""Sizes that vary: the head comment of rules says what a user may choose, and how the text depends on it.

    ; varies: width 4..12 default 7, height 4..12 default 6
    ;   {width*height} moves at most
    ;   {one width} columns
    ;   (next_row {i} {i+1}) for i in 1..height-1
    ;   without , and this opening wins

The first line names the sizes, their limits and defaults; ``by 2`` behind the limits leaves out every other
number. Each line below names a part of the text. The text has it word for word as it reads for the defaults,
and for other sizes it is replaced by what it reads for these. Braces hold a sum of products of sizes and
numbers; ``a`` before it asks for a letter (1 is ``a``), ``one`` and ``One`` for a number in words. ``for``
repeats a line. ``without`` leaves a part out: it holds for the defaults only. Blanks of a part stand for line
ends, too.

Nothing is executed. All numbers, repetitions and texts are bounded.

>>> text = "; 3x3 board\n; varies: size 2..9 default 3\n;   {size}x{size} board\n;   (row {size})\n(row 3)"
>>> print(variant("small", text, "4"))
; 4x4 board
(row 4)
>>> variant("small", text, "11")
Traceback (most recent call last):
gdl.errors.GdlError: there is no small:11 (give its size from 2 to 9, as in small:3)
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from gdl.errors import GdlError, Place
from gdl.hints import LONGEST_HINT, MARK, MOST_HINTS, HintFault
from gdl.words import in_words

_BLOCK = re.compile(rf"^{MARK}[ \t]*varies:([^\n]*)((?:\n{MARK}[ \t]{{2,}}\S[^\n]*)*)(?:\n|\Z)", re.MULTILINE)
_PART = re.compile(rf"^{MARK}[ \t]*(\S[^\n]*)", re.MULTILINE)
_SIZE = re.compile(r"([a-z]+) (\d{1,4})\.\.(\d{1,4})(?: by ([1-9]\d?))? default (\d{1,4})")
_LOOP = re.compile(r"(.+) for ([a-z]+) in (\S+)\.\.(\S+)")
_HOLE = re.compile(r"\{(?:(a|one|One) )?([^{}]*)\}")
_SUM = re.compile(r"\w+(?:[-+*/^]\w+)*")
_INNER = re.compile(r"\(([^()]*)\)")
_LARGEST = 1_000_000
_MOST_SIZES = 4
_MOST_REPEATED = 400
_MOST_CHARACTERS = 10_000
"""Of one part. Possessive patterns and these limits keep the search in a stranger's text linear."""
_WITHOUT = "without "


@dataclass(frozen=True, slots=True)
class Size:
    """A number that may be chosen."""

    name: str
    least: int
    most: int
    step: int
    default: int

    def __str__(self) -> str:
        by = f" by {self.step}" if self.step > 1 else ""
        return f"{self.name} from {self.least} to {self.most}{by}"

    def allows(self, number: int) -> bool:
        """Whether it is one of the sizes."""
        return self.least <= number <= self.most and (number - self.least) % self.step == 0


def read_sizes(text: str) -> tuple[tuple[Size, ...], tuple[HintFault, ...]]:
    """The sizes that rules let vary, in the order in which they are given, and the faults of what is said
    about them; no sizes if there are faults."""
    found = _BLOCK.search(text)
    if found is None:
        return (), ()
    sizes = [_size(" ".join(words.split())) for words in found[1].split(",")[: _MOST_SIZES + 1]]
    read = {size.name: size for size in sizes if size is not None}
    parts = _parts(text, found)
    fault = ("", "")
    if len(read) < len(sizes) or len(sizes) > _MOST_SIZES:
        fault = f"{found[1].strip()[:40]!r} are no sizes", "write: varies: width 4..9 default 7, height ..."
    elif not 0 < len(parts) <= MOST_HINTS:
        fault = f"{len(parts)} parts of the text vary", f"write them below, indented, {MOST_HINTS} at most"
    if fault[0]:
        return (), (HintFault(Place.of(text, found.start(1)), *fault),)
    faults = []
    own = {name: size.default for name, size in read.items()}
    for part, place in parts:
        try:
            if _place_of(part, own).search(_rest(text, found)) is None:
                missing = f"{_reads(part, own)[:60]!r} is not in the text"
                raise GdlError(missing, remedy="write it as it stands there")
        except GdlError as error:
            faults.append(HintFault(place, error.message, error.remedy))
    return (() if faults else tuple(read.values())), tuple(faults)


def _size(words: str) -> Size | None:
    read = _SIZE.fullmatch(words)
    size = None if read is None else Size(read[1], *(int(read[k] or 1) for k in range(2, 6)))
    return size if size is not None and size.allows(size.default) else None


def variant(name: str, text: str, chosen: str) -> str:
    """The rules for other sizes.

    Args:
        name: of the game, for messages.
        text: its rules; they themselves are returned for the defaults.
        chosen: a number for each size, with ``x`` between them: ``7x6``.

    Raises:
        GdlError: nothing varies, not these sizes, or the text does not say how.
    """
    sizes, faults = read_sizes(text)
    found = _BLOCK.search(text)
    if faults:
        raise GdlError(f"{name} cannot have another size: {faults[0]}", remedy="see `ggp validate --notes`")
    if found is None:
        raise GdlError(f"{name} has one size only", remedy=f"leave out :{chosen[:20]}")
    words = chosen.lower().split("x")
    numbers = [int(word) if re.fullmatch("[0-9]{1,4}", word) else -1 for word in words]
    if len(numbers) != len(sizes) or not all(map(Size.allows, sizes, numbers)):
        defaults = "x".join(str(size.default) for size in sizes)
        remedy = f"give its {' and '.join(map(str, sizes))}, as in {name}:{defaults}"
        raise GdlError(f"there is no {name}:{chosen[:40]}", remedy=remedy)
    own = {size.name: size.default for size in sizes}
    wanted = dict(zip(own, numbers, strict=True))
    if wanted == own:
        return text
    parts = [part for part, _ in _parts(text, found)]
    places = {f"p{number}": _place_of(part, own) for number, part in enumerate(parts)}
    new = ["" if part.startswith(_WITHOUT) else _reads(part, wanted) for part in parts]
    # All at once, so that nothing is replaced twice; of two that begin at one place the longer one.
    longest = sorted(places, key=lambda group: -len(places[group].pattern))
    every = re.compile("|".join(f"(?P<{group}>{places[group].pattern})" for group in longest))
    return every.sub(lambda match: new[int(str(match.lastgroup)[1:])], _rest(text, found))


def _rest(text: str, block: re.Match[str]) -> str:
    return text[: block.start()] + text[block.end() :]


def _parts(text: str, block: re.Match[str]) -> list[tuple[str, Place]]:
    found = _PART.finditer(text, block.start(2) + 1, block.end(2)) if block[2] else ()
    return [(part[1].strip(), Place.of(text, part.start(1))) for part in found]


def _place_of(part: str, sizes: Mapping[str, int]) -> re.Pattern[str]:
    """The pattern of a part of the text as it reads for some sizes."""
    words = [re.escape(word) for word in _reads(part, sizes).split()]
    if not words:
        raise GdlError("nothing is repeated for the defaults", remedy="begin below the end")
    pattern = r"\s++(?:(?:;++|%++|//++|#++)\s++)?".join(words)
    if part.startswith(_WITHOUT):
        return re.compile(rf"[ ]?{pattern}")
    return re.compile(rf"(?<!\w){pattern}(?!\w)" if pattern[0].isalnum() else rf"{pattern}(?!\w)")


def _reads(part: str, sizes: Mapping[str, int]) -> str:
    """A part for some sizes. Raises GdlError if it cannot be read, or is too long."""
    if len(part) > LONGEST_HINT:
        raise GdlError("this line is too long", remedy=f"use at most {LONGEST_HINT} characters")
    part = part.removeprefix(_WITHOUT)
    loop = _LOOP.fullmatch(part)
    if loop is None:
        return _filled(part, sizes)
    first, last = _value(loop[3], sizes), _value(loop[4], sizes)
    if last - first >= _MOST_REPEATED:
        times = f"this line is repeated {last - first + 1:,} times"
        raise GdlError(times, remedy=f"at most {_MOST_REPEATED:,}")
    said = "\n".join(_filled(loop[1], {**sizes, loop[2]: number}) for number in range(first, last + 1))
    if len(said) > _MOST_CHARACTERS:
        raise GdlError(f"this line becomes {len(said):,} characters", remedy=f"at most {_MOST_CHARACTERS:,}")
    return said


def _filled(words: str, sizes: Mapping[str, int]) -> str:
    def said(hole: re.Match[str]) -> str:
        number = _value(hole[2], sizes)
        if hole[1] is None:
            return str(number)
        if hole[1] != "a":
            return in_words(number).capitalize() if hole[1] == "One" else in_words(number)
        if not 1 <= number <= 26:
            raise GdlError(f"no letter has the number {number}", remedy="columns go from a to z")
        return chr(ord("a") + number - 1)

    return _HOLE.sub(said, words)


def _value(text: str, sizes: Mapping[str, int]) -> int:
    """The value of a sum of products. Raises GdlError if it is none, or too large."""
    words = text.replace(" ", "")
    while "(" in words and (inner := _INNER.search(words)):
        words = f"{words[: inner.start()]}{_value(inner[1], sizes)}{words[inner.end() :]}"
    if not _SUM.fullmatch(words):
        remedy = "as in {2*size+1} or {2^disks}"
        raise GdlError(f"{text[:40]!r} is not a sum of sizes and numbers", remedy=remedy)
    total = 0
    for sign, product in re.findall(r"(^|[+-])([^-+]+)", words):
        amount = 1
        for operator, factor in re.findall(r"(^|[*/^])(\w+)", product):
            number = int(factor) if factor.isdecimal() else sizes.get(factor)
            if number is None:
                raise GdlError(f"there is no size {factor[:20]!r}", remedy=f"one of {', '.join(sizes)}")
            if (operator == "^" and not 0 <= number <= 20) or (operator == "/" and number == 0):
                raise GdlError(f"{text[:40]!r} has no value", remedy="divide by no zero, raise to 20 at most")
            match operator:
                case "^":
                    amount **= number
                case "/":
                    amount //= number
                case _:
                    amount *= number
            if abs(amount) > _LARGEST:
                raise GdlError(f"{text[:40]!r} is larger than {_LARGEST:,}", remedy="bound the sizes")
        total += -amount if sign == "-" else amount
    return total
