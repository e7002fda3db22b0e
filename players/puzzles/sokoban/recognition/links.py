"""Between which squares the keeper can walk, where a move is a push and his walks do not show."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from players.puzzles.sokoban.recognition.directions import Step
from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER
from players.puzzles.sokoban.recognition.probes import Probe
from propnet.jit.arrays import Octets

_ROWS = 4096

Line = tuple[int, int, int]
"""Three squares in a row: the keeper's, the box's, and where that goes."""

Question = tuple[Step, int, Line]
"""Whether two squares are next to each other: where the keeper starts, and what he could push then."""


def filled(probe: Probe, keepers: Sequence[int], free: Sequence[Iterable[int]]) -> Octets:
    """Statuses, uint8 (n, squares), with boxes wherever they can be but on the keeper's square and the free
    ones."""
    status = np.where(probe.encoding.can_hold, BOX, EMPTY).astype(np.uint8)[None].repeat(len(keepers), axis=0)
    for row, squares in enumerate(free):
        status[row, list(squares)] = EMPTY
    status[np.arange(len(keepers)), list(keepers)] = KEEPER
    return status


def links_of(probe: Probe, lines: dict[Line, int]) -> tuple[set[Step], set[Step]]:
    """Pairs of squares, both ways, between which the keeper can walk with boxes on all others, other than
    those in rows; and pairs that cannot be told from those.

    A push shows that its keeper's square was reached. Where he never stands he is sent from a square beside.
    """
    known = {step for a, b, c in lines for step in ((a, b), (b, a), (b, c), (c, b))}
    shows: dict[int, list[Line]] = {}
    for line in lines:
        shows.setdefault(line[0], []).append(line)
    stands = np.flatnonzero(probe.encoding.can_stand).tolist()
    squares = sorted({*shows, *stands})
    beside = {one: [start for start in stands if (start, one) in known and start != one] for one in squares}

    def asking(one: int, to: int, keepers: Iterable[int], taken: set[Step]) -> list[Question]:
        """Ways to ask for a pair, with the keeper on the first square or on one beside it that is not next to
        the second itself."""
        return [
            ((min(one, to), max(one, to)), keeper, line)
            for keeper in keepers
            if keeper != to and (keeper == one or (keeper, to) not in taken)
            for line in shows.get(to, [])
            if line[1] not in (one, keeper)
        ]

    unknown = [(one, to) for one in squares for to in squares if one != to and (one, to) not in known]
    standing = set(stands)
    first = [
        question
        for one, to in unknown
        if one in standing or (to not in standing and one < to)
        for question in asking(one, to, [one] if one in standing else beside[one], known)[:1]
    ]
    found = _shown(probe, lines, first)
    # Some are deceived: the keeper may have come over the square that the box is to go to. What holds must
    # hold however it is asked.
    taken = known | found | {(to, one) for one, to in found}
    again = [
        question
        for pair in found
        for one, to in (pair, pair[::-1])
        for question in asking(one, to, [*([one] if one in standing else []), *beside[one]], taken)
    ]
    sure = _shown(probe, lines, again, found)
    asked = {pair for pair, _, _ in first}
    doubtful = {step for step in unknown if (min(step), max(step)) not in asked}
    return {step for one, to in sure for step in ((one, to), (to, one))}, doubtful


def _shown(
    probe: Probe,
    lines: dict[Line, int],
    asked: Sequence[tuple[Step, int, Line]],
    believed: Iterable[Step] = (),
) -> set[Step]:
    """The pairs of squares between which the keeper can walk with boxes on all others, as all that ask for
    them say, or as was believed if nothing does: he starts on the second thing of a triple and the push
    along the third tells."""
    said = dict.fromkeys(believed, True)
    for low in range(0, len(asked), _ROWS):
        some = asked[low : low + _ROWS]
        free = [(*pair, line[2]) for pair, _, line in some]
        legal = probe.legal(filled(probe, [keeper for _, keeper, _ in some], free))
        moves = np.array([lines[line] for *_, line in some], np.int64)
        for (pair, *_), good in zip(some, legal[np.arange(len(some)), moves].tolist(), strict=True):
            said[pair] = said.get(pair, True) and good
    return {pair for pair, good in said.items() if good}
