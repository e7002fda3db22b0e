"""Words in messages: numbers with their nouns."""

from __future__ import annotations

import re

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
