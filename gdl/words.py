"""Words in messages: numbers with their nouns."""

from __future__ import annotations


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
