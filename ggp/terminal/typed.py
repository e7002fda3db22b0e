"""What a person types as a move: ``e2e4``, ``e 2 e 4``, ``e4`` where it is the only one, ``d`` for a column,
``up``, ``uul`` for three steps.

Several readings are tried, the strictest first. The first one that fits any legal move decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

_BETWEEN = re.compile(r"[\s(),'/>-]+")
"""What may stand between the words of a move, or be left out."""
Reading = Callable[[list[str], list[str], str], bool]
"""Whether the words of a move fit what was typed: the move's words, the typed words, and these glued
together."""


def words_of(text: str) -> list[str]:
    """The words of a move, or of what was typed, in small letters."""
    return re.findall(r"[^\s(),']+", text.lower())


def matching(text: str, names: Sequence[str], numbers: Sequence[int] | None = None) -> list[int]:
    """Which of the moves a person may mean, by their places: by number (from 1, where none are given), or by
    what the move says."""
    if text.isdecimal() and len(text) < 10:
        number = int(text)
        numbers = range(1, len(names) + 1) if numbers is None else numbers
        if number in numbers:
            return [numbers.index(number)]
    wanted, glued = words_of(text), _glue(text)
    if not wanted:
        return []
    named = [words_of(name) for name in names]
    for reading in _READINGS if glued else _READINGS[:1]:
        fitting = [i for i, words in enumerate(named) if reading(words, wanted, glued)]
        if fitting:
            return fitting
    return []


def steps_of(text: str, moves: Sequence[str], known: Sequence[str]) -> list[str]:
    """The single steps of what was typed as several, such as ``uul`` or ``up up left``: words for one move
    each. Empty where it is no such thing.

    Args:
        moves: the moves that are legal now; the first step has to fit one of them.
        known: all moves that have been seen.
    """
    typed = words_of(text)
    steps = list(typed[0]) if len(typed) == 1 else typed
    if len(steps) < 2:
        return []
    ends = {words[-1] for words in map(words_of, (*moves, *known)) if words}
    if not all(any(end.startswith(step) for end in ends) for step in steps):
        return []
    return steps if len(fitting_step(steps[0], moves)) == 1 else []


def fitting_step(step: str, moves: Sequence[str]) -> list[int]:
    """The moves whose last word is a step, or begins with it."""
    last = [(words_of(name) or [""])[-1] for name in moves]
    exact = [i for i, word in enumerate(last) if word == step]
    return exact or [i for i, word in enumerate(last) if word.startswith(step)]


def _glue(text: str) -> str:
    return _BETWEEN.sub("", text.lower())


def _glued(words: list[str]) -> Iterator[str]:
    """Words glued together; squares of a number and a letter also the other way round, as lists of moves show
    them."""
    yield _glue("".join(words))
    turned = list(words)
    i = 0
    while i + 1 < len(turned):
        if turned[i].isdecimal() and len(turned[i + 1]) == 1 and turned[i + 1].isalpha():
            turned[i : i + 2] = turned[i + 1], turned[i]
            i += 1
        i += 1
    yield _glue("".join(turned))


def _in_full(words: list[str], wanted: list[str], glued: str) -> bool:
    return words == wanted


def _in_one(words: list[str], wanted: list[str], glued: str) -> bool:
    return glued in _glued(words) or (len(words) > 1 and glued in _glued(words[1:]))


def _by_beginning(words: list[str], wanted: list[str], glued: str) -> bool:
    return len(wanted) <= len(words) and all(map(str.startswith, words, wanted))


def _by_last_words(words: list[str], wanted: list[str], glued: str) -> bool:
    return any(glued in _glued(words[i:]) for i in range(2, len(words)))


def _by_first_words(words: list[str], wanted: list[str], glued: str) -> bool:
    return any(glued in _glued(words[1:i]) for i in range(2, len(words)))


def _by_words_between(words: list[str], wanted: list[str], glued: str) -> bool:
    ends = range(3, len(words))
    return any(glued in _glued(words[i:end]) for end in ends for i in range(2, end))


def _by_beginning_of_the_last(words: list[str], wanted: list[str], glued: str) -> bool:
    return bool(words) and words[-1].startswith(glued)


_READINGS: tuple[Reading, ...] = (
    _in_full,
    _in_one,
    _by_beginning,
    _by_last_words,
    _by_first_words,
    _by_words_between,
    _by_beginning_of_the_last,
)
