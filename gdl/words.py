"""Words in messages: numbers with their nouns, and the words of hints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_SENTENCE_END = re.compile(r"(?<=[.!?])['\")]?\s+(?=[A-Z0-9'\"(])")


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the singular for 1: ``counted(1, "state")`` is ``1 state``.

    Thousands are set apart by commas. ``plural`` is for nouns that take more than an ``s``.

    >>> counted(2048, "state"), counted(1, "match", "matches"), counted(0, "box", "boxes")
    ('2,048 states', '1 match', '0 boxes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float) -> str:
    """A duration, rounded down to seconds.

    >>> duration(4.2), duration(754.0), duration(11554.0)
    ('4 s', '12:34', '3:12:34')
    """
    whole = int(min(seconds, 1e12))
    if whole < 60:
        return f"{whole} s"
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


def sentences(text: str) -> list[str]:
    """The sentences of a text.

    >>> sentences("Take 2.5 of them. Who cannot, loses! (There is no draw.)")
    ['Take 2.5 of them.', 'Who cannot, loses!', '(There is no draw.)']
    """
    return [part for part in _SENTENCE_END.split(text) if part]


def shortened(text: str, most: int) -> str:
    """A text of at most ``most`` characters, cut at the end of a sentence, or else of a word.

    >>> shortened("One. Two and three. Four", 12), shortened("one two three", 9)
    ('One.', 'one two …')
    """
    if len(text) <= most:
        return text
    whole = [found.start() for found in _SENTENCE_END.finditer(text[: most + 2]) if found.start() <= most]
    return text[: whole[-1]] if whole else f"{text[: most - 1].rpartition(' ')[0] or text[: most - 2]} …"


_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def in_words(number: int) -> str:
    """A number as one writes it in a sentence: ``seven``, but ``11``."""
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else str(number)


_LONGEST = 80
_VARIABLE = re.compile(r"[?#](?=\w)")


def unnamed(text: str, names: Iterable[str]) -> str:
    """The text from its first variable on that has none of these names; empty if there is none."""
    found = _VARIABLE.search(rest := _with(dict.fromkeys(names, ""), text))
    return "" if found is None else rest[found.start() :]


def fill(text: str, values: Mapping[str, str]) -> str:
    """The words of a hint with the values of its variables, at most 80 characters; empty if they are longer.

    ``?n`` stands for a value, ``#n`` for a number in words up to ten. ``+s`` puts the word before it in the
    plural, unless the number before that word is 1. ``?P`` makes a single letter a capital.

    >>> fill("bid #n #face+s", {"n": "2", "face": "5"}), fill("bid #n #face+s", {"n": "1", "face": "6"})
    ('bid two fives', 'bid one six')
    >>> fill("take #n stick+s from ?x?y", {"n": "12", "x": "a", "y": "3"})
    'take 12 sticks from a3'
    """
    said = _with(values, text)
    return said if len(said) <= _LONGEST else ""


def _with(values: Mapping[str, str], text: str) -> str:
    names = "|".join(map(re.escape, sorted(values, key=len, reverse=True)))
    parts = re.compile(rf"([?#])({names})|(?<!\s)\+s(?!\w)", re.IGNORECASE) if names else None
    said, at, numbers, after = "", 0, [""], 0
    for found in parts.finditer(text) if parts else ():
        said += text[at : found.start()]
        if not found[1]:
            # The word itself may be a number: two fives.
            count = numbers[-2 if after == found.start() and len(numbers) > 1 else -1]
            said += "" if count == "1" else "es" if said.endswith(("s", "x", "z", "ch", "sh")) else "s"
        elif (value := values.get(found[2].lower())) is None:  # ſ is an s in capitals
            said += found[0]
        else:
            value = value.upper() if found[2].isupper() and len(value) == 1 else value
            small = found[1] == "#" and value.isdecimal() and len(value) < 3
            said += in_words(int(value)) if small else value
            if value.isdecimal():
                numbers.append(value)
                after = found.end()
        at = found.end()
    return said + text[at:]
