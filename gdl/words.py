"""Words in messages: numbers with their nouns."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun, in the singular for 1: ``counted(1, "state")`` is ``1 state``.

    Thousands are set apart by commas. ``plural`` is for nouns that take more than an ``s``.

    >>> counted(2048, "state"), counted(1, "match", "matches"), counted(0, "box", "boxes")
    ('2,048 states', '1 match', '0 boxes')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
