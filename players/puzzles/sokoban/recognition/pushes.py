"""Recognise rules in which a move is a push with the walk to it. The walks are invisible, so all squares but
a few get boxes: the pushes that the keeper can make then show which squares are next to each other.

A query is a key, the keeper's square, free squares, and a move that may be legal with boxes on all others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeVar

import numpy as np

from gdl.terms import Term
from players.puzzles.sokoban.recognition.directions import Step, neighbours_of, with_hidden
from players.puzzles.sokoban.recognition.encoding import (
    BOX,
    EMPTY,
    KEEPER,
    Encoding,
    Guess,
    name_changes,
    taken_apart,
)
from players.puzzles.sokoban.recognition.probes import Probe, keepers_at
from propnet.jit.arrays import Flags, Int32s

_Line = tuple[int, int, int]
"""Three squares in a row: the keeper's, the box's, and the box's next one."""

_Key = TypeVar("_Key", bound=Hashable)
_Query = tuple[_Key, int, tuple[int, ...], int]

_ROWS = 4096


def probe_pushes(probe: Probe, guess: Guess) -> tuple[Int32s, dict[Step, list[int]], Encoding] | None:
    """Return the neighbours of all squares, hidden ones included; the moves of each step by the status of its
    second square; and the encoding with these squares, with boxes only where they ever are. None if it is not
    Sokoban with a push per move."""
    encoding = probe.encoding
    kinds = [_lone_pushes(probe, kind) for kind in range(len(encoding.kinds))]
    if not all(kinds):
        return None
    initial = np.asarray(probe.machine.network.initial, np.bool_)
    held = encoding.status(initial[None])[0] >= BOX
    held[[square for step in kinds[0] for square in step]] = True
    held &= encoding.can_hold
    lines = _lines(probe, held, kinds[0])
    squares = max(guess.squares, 1 + max(start for start, _, _ in lines))
    ahead: dict[Step, int | None] = {}
    for start, box, beyond in lines:
        # The opposite push never happens if the keeper cannot get behind the box.
        ahead[start, box] = beyond
        ahead.setdefault((beyond, box), start)
    for start, box, beyond in lines:
        ahead.setdefault((box, start), squares)
        ahead.setdefault((box, beyond), squares)
    hints = [*_symbols(lines, probe.machine.network.moves[0]), *name_changes(ahead, guess)]
    neighbours = neighbours_of(squares, ahead, hints)
    if neighbours is None:
        return None
    links, doubtful = _links(probe, np.pad(held, (0, squares - guess.squares)), lines)
    whole = with_hidden(neighbours, links, {*links, *doubtful, *ahead})
    if whole is None:
        return None
    more = 0, len(whole) - 1 - guess.squares
    wider = replace(
        encoding,
        squares=len(whole) - 1,
        can_hold=np.pad(held, more),
        can_stand=np.pad(encoding.can_stand, more),
    )
    moves = {
        (start, box): [-1, -1, *(of_kind.get((box, beyond), -1) for of_kind in kinds)]
        for start, box, beyond in lines
    }
    return whole, moves, wider


def _lone_pushes(probe: Probe, kind: int) -> dict[Step, int]:
    """Return the moves that push a lone box of this kind, by its squares before and after; none if a move
    does anything else."""
    encoding = probe.encoding
    stands = np.flatnonzero(encoding.can_stand)
    seen = np.zeros(probe.machine.network.move_count, np.bool_)
    found: dict[Step, int] = {}
    for box in np.flatnonzero(encoding.can_hold).tolist():
        status = keepers_at(encoding.squares, stands[stands != box])
        status[:, box] = BOX + kind
        legal = probe.legal(status)
        moves = np.flatnonzero(legal.any(axis=0))
        if seen[moves].any():
            return {}  # a move that pushes boxes from different squares
        seen[moves] = True
        after, sound = probe.after(status[legal[:, moves].argmax(axis=0)], moves)
        if not (sound.all() and (after[:, box] == KEEPER).all() and ((after >= BOX).sum(axis=1) == 1).all()):
            return {}
        for move, there in zip(moves.tolist(), (after >= BOX).argmax(axis=1).tolist(), strict=True):
            found[box, there] = move
    return found


def _lines(probe: Probe, held: Flags, pushes: Mapping[Step, int]) -> dict[_Line, int]:
    """Return all triples of squares in a row, and the push along each. A keeper's square to which no box
    comes gets a new number.

    With boxes on all squares but his and the one ahead, the keeper can make a push only from right behind. If
    he never stands there, he comes from a neighbouring square.
    """
    can_stand = probe.encoding.can_stand
    to: dict[int, list[int]] = defaultdict(list)
    near: dict[int, list[int]] = defaultdict(list)
    for box, there in pushes:
        to[box].append(there)
        near[there].append(box)
    stands, never = np.flatnonzero(can_stand).tolist(), np.flatnonzero(held & ~can_stand).tolist()
    found: dict[Step, int] = {}
    # Most squares behind a box are ahead of it in the opposite push.
    for likely, candidates in ((True, stands), (False, stands), (False, never)):
        asked = [
            ((start, box, there), keeper, (start, there), move)
            for (box, there), move in pushes.items()
            if (box, there) not in found
            for start in (to[box] if likely else candidates)
            if start not in (box, there) and (can_stand[start] or not likely)
            for keeper in ([start] if can_stand[start] else near[start])
            if keeper not in (box, there)
        ]
        for start, box, there in _confirmed(probe, held, asked):
            found[box, there] = start
            if (box, start) in pushes:
                found[box, start] = there
    new = len(held)
    for box, ways in to.items():
        # The last two of four squares are opposite to each other.
        rest = [there for there in ways if (box, there) not in found]
        if len(rest) == 2 and len(ways) in (2, 4):
            found[box, rest[0]], found[box, rest[1]] = rest[1], rest[0]
        else:
            for there in rest:
                found[box, there] = new
                new += 1
    return {(start, *step): pushes[step] for step, start in found.items()}


def _links(probe: Probe, held: Flags, lines: Mapping[_Line, int]) -> tuple[set[Step], set[Step]]:
    """Return pairs of squares, both ways, between which the keeper can walk with boxes on all others, except
    pairs in rows; and pairs that cannot be distinguished from these.

    A push shows that its keeper's square was reached. If he never stands on the first square, he is sent from
    a neighbour of it that is not next to the second.
    """
    in_rows = _both_ways({step for a, b, c in lines for step in ((a, b), (b, c))})
    shows: dict[int, list[_Line]] = defaultdict(list)
    for line in lines:
        shows[line[0]].append(line)
    stands: list[int] = np.flatnonzero(probe.encoding.can_stand).tolist()
    standing = set(stands)
    squares = sorted({*shows, *stands})
    near = {one: [start for start in stands if (start, one) in in_rows] for one in squares}

    def queries(one: int, to: int, taken: set[Step]) -> Iterator[_Query[Step]]:
        """Yield the queries for a pair, with the keeper sent from its first square or from one next to it."""
        for keeper in [*([one] if one in standing else []), *near[one]]:
            if keeper == one or (keeper != to and (keeper, to) not in taken):
                for line in shows[to]:
                    if line[1] not in (one, keeper):
                        yield (min(one, to), max(one, to)), keeper, (one, to, line[2]), lines[line]

    unknown = [(one, to) for one in squares for to in squares if one != to and (one, to) not in in_rows]
    first = [query for pair in unknown for query in islice(queries(*pair, in_rows), 1)]
    found = set(_confirmed(probe, held, first))
    # Some pushes mislead: the keeper may have walked over the box's next square. So a pair must hold in all
    # queries.
    pairs = _both_ways(found)
    again = [query for pair in sorted(pairs) for query in queries(*pair, in_rows | pairs)]
    sure = _confirmed(probe, held, [*(query for query in first if query[0] in found), *again])
    doubtful = set(unknown) - _both_ways({pair for pair, *_ in first})
    return _both_ways(sure), doubtful


def _confirmed(probe: Probe, held: Flags, asked: Sequence[_Query[_Key]]) -> list[_Key]:
    """Return the keys for which all these queries say that the move is legal."""
    holds: dict[_Key, bool] = {}
    for low in range(0, len(asked), _ROWS):
        some = asked[low : low + _ROWS]
        status = np.where(held, BOX, EMPTY).astype(np.uint8)[None].repeat(len(some), axis=0)
        for row, (_, keeper, free, _) in enumerate(some):
            status[row, list(free)] = EMPTY
            status[row, keeper] = KEEPER
        moves = [move for *_, move in some]
        legal = probe.legal(status)[np.arange(len(some)), moves].tolist()
        for (key, *_), good in zip(some, legal, strict=True):
            holds[key] = holds.get(key, True) and good
    return [key for key, good in holds.items() if good]


def _both_ways(steps: Iterable[Step]) -> set[Step]:
    return {step for one, to in steps for step in ((one, to), (to, one))}


def _symbols(lines: Mapping[_Line, int], terms: Sequence[Term]) -> list[dict[Step, Hashable]]:
    """Return the symbols of pushes as labels of their steps: the places with at most four values."""
    symbols = {line: taken_apart(terms[move])[1] for line, move in lines.items()}
    places = zip(*symbols.values(), strict=False)
    return [
        {step: name for (a, b, c), name in zip(symbols, names, strict=True) for step in ((a, b), (b, c))}
        for names in places
        if len(set(names)) <= 4
    ]
