"""Sokoban with one push per move, the walk to it included: found by probes, and predicted.

The keeper's walks do not show. So all squares but a few are filled with boxes: what he can push then tells
where he stands, and which squares are next to each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gdl.terms import Term
from players.puzzles.sokoban.recognition.contents import Guess, name_changes, taken_apart
from players.puzzles.sokoban.recognition.directions import Step, neighbours_of
from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER
from players.puzzles.sokoban.recognition.model import MoveModel, Part, Predicted, walled
from players.puzzles.sokoban.recognition.probes import Probe
from propnet.jit.arrays import Int32s, Octets

MOST_SQUARES = 700
"""Maps with more squares are not probed: it takes a state for each pair of squares."""
_ROWS = 4096

Line = tuple[int, int, int]
"""Three squares in a row: the keeper's, the box's, and where that goes."""


@dataclass(frozen=True, slots=True, eq=False)
class PushModel(MoveModel):
    """Which move is which push.

    Attributes:
        neighbours: int32, shape (squares + 1, 4), as of a geometry.
        pushes: int32, shape (kinds, squares, 4): the move that pushes a box of a kind from a square in a
            direction; -1 where it cannot be pushed.
    """

    neighbours: Int32s
    pushes: Int32s

    def predicted(self, status: Octets) -> Predicted:
        board = walled(status)
        near = self.neighbours
        free = np.packbits(((board == EMPTY) | (board == KEEPER)).T, axis=1)
        boxed = np.packbits((board[:, :-1] >= BOX).T, axis=1)
        reached = np.packbits((board == KEEPER).T, axis=1)
        before = np.zeros_like(reached)
        while (before != reached).any():
            before = reached.copy()
            for direction in range(4):
                reached |= reached[near[:, direction]]
            reached &= free
        parts: list[Part] = []
        for direction in range(4):
            ahead, behind = near[:-1, direction], near[:-1, direction ^ 2]
            able = np.unpackbits(boxed & reached[behind] & free[ahead], axis=1, count=len(status))
            box, rows = np.nonzero(able)
            held = status[rows, box]
            after = status[rows]
            after[after == KEEPER] = EMPTY
            each = np.arange(len(rows))
            after[each, box] = KEEPER
            after[each, ahead[box]] = held
            parts.append((rows, self.pushes[held - BOX, box, direction].astype(np.int64), after))
        return Predicted.joined(parts)


def probe_pushes(probe: Probe, guess: Guess) -> PushModel | None:
    """The model of a machine whose keeper has nothing to do where there are no boxes; None if it is not
    Sokoban with a push per move."""
    squares, kinds = guess.squares, len(probe.encoding.kinds)
    if squares > MOST_SQUARES:
        return None
    lines = _lines(probe)
    if not lines:
        return None
    steps = _steps(probe, lines)
    by_step = {(start, box): ahead for start, box, ahead in lines}
    known = probe.encoding.can_hold
    ahead: dict[Step, int | None] = {
        step: by_step.get(step, squares if known[step[1]] else None) for step in steps
    }
    terms = probe.machine.network.moves[0]
    hints = [*_symbols(lines, terms), *name_changes(steps, guess)]
    neighbours = neighbours_of(squares, ahead, hints)
    if neighbours is None:
        return None
    pushes = np.full((kinds, squares, 4), -1, np.int32)
    for kind in range(kinds):
        for (_, box, beyond), move in (lines if not kind else _of_kind(probe, lines, kind)).items():
            pushes[kind, box, neighbours[box].tolist().index(beyond)] = move
    return PushModel(neighbours, pushes)


def _filled(probe: Probe, keepers: Sequence[int], free: Sequence[Iterable[int]]) -> Octets:
    """Statuses with boxes everywhere but on the keeper's square and the free ones."""
    status = np.full((len(keepers), probe.encoding.squares), BOX, np.uint8)
    for row, squares in enumerate(free):
        status[row, list(squares)] = EMPTY
    status[np.arange(len(keepers)), list(keepers)] = KEEPER
    return status


def _lines(probe: Probe) -> dict[Line, int]:
    """All three squares in a row, and the push along them: with one square free beside the keeper's, he can
    push only what is between the two."""
    squares = probe.encoding.squares
    found: dict[Line, int] = {}
    each = max(1, _ROWS // squares)
    for low in range(0, squares, each):
        some = np.arange(low, min(squares, low + each))
        keepers, free = (part.ravel() for part in np.meshgrid(some, np.arange(squares), indexing="ij"))
        other = keepers != free
        keepers, free = keepers[other], free[other]
        status = np.full((len(keepers), squares), BOX, np.uint8)
        rows = np.arange(len(keepers))
        status[rows, free] = EMPTY
        status[rows, keepers] = KEEPER
        given = probe.followers(status)
        if len(given.rows) > 4 * squares:
            return {}
        for row, move, after in zip(given.rows.tolist(), given.moves.tolist(), given.status, strict=True):
            box = int((after == KEEPER).argmax())
            if after[free[row]] >= BOX and box != keepers[row]:
                found[int(keepers[row]), box, int(free[row])] = move
    return found


def _of_kind(probe: Probe, lines: Iterable[Line], kind: int) -> dict[Line, int]:
    """The pushes along these lines of a box of this kind."""
    triples = list(lines)
    status = _filled(probe, [line[0] for line in triples], [line[2:] for line in triples])
    boxes = np.array([line[1] for line in triples])
    status[np.arange(len(triples)), boxes] = BOX + kind
    given = probe.followers(status)
    moved = given.status[np.arange(len(given.rows)), boxes[given.rows]] == KEEPER
    return {
        triples[row]: move
        for row, move in zip(given.rows[moved].tolist(), given.moves[moved].tolist(), strict=True)
    }


def _steps(probe: Probe, lines: dict[Line, int]) -> set[Step]:
    """Which squares are next to each other, both ways.

    The squares in a row are. Of others: a push shows that its keeper's square was reached; if nothing but
    that square is free, it was from the one where he stood. Squares that no push begins behind are reached
    over one that is known already.
    """
    squares = probe.encoding.squares
    steps: set[Step] = set()
    for start, box, ahead in lines:
        steps |= {(start, box), (box, start), (box, ahead), (ahead, box)}
    # For each square the line that shows it, and the squares on the way to it.
    shown: dict[int, tuple[Line, tuple[int, ...]]] = {line[0]: (line, line[:1]) for line in lines}
    waiting = list(shown)
    while waiting:
        pairs = []
        for square in waiting:
            line, way = shown[square]
            late = len(way) > 1
            pairs += [
                (start, square)
                for start in range(squares)
                if start not in (*line, *way) and not (late and start in shown)
            ]
        found = _reaching(probe, lines, shown, pairs)
        steps |= {*found, *((to, start) for start, to in found)}
        waiting = []
        for start, to in found:
            if start not in shown:
                line, way = shown[to]
                shown[start] = line, (start, *way)
                waiting.append(start)
    return steps


def _reaching(
    probe: Probe,
    lines: dict[Line, int],
    shown: dict[int, tuple[Line, tuple[int, ...]]],
    pairs: Sequence[Step],
) -> list[Step]:
    """Those of some pairs of squares that are next to each other."""
    found: list[Step] = []
    for low in range(0, len(pairs), _ROWS):
        some = pairs[low : low + _ROWS]
        free = [(*shown[to][1], shown[to][0][2]) for _, to in some]
        legal = probe.legal(_filled(probe, [start for start, _ in some], free))
        moves = np.array([lines[shown[to][0]] for _, to in some], np.int64)
        found += [some[row] for row in np.flatnonzero(legal[np.arange(len(some)), moves]).tolist()]
    return found


def _symbols(lines: dict[Line, int], terms: Sequence[Term]) -> list[dict[Step, Hashable]]:
    """The symbols of pushes as labels of their steps: those that have at most four values."""
    symbols = {line: taken_apart(terms[move])[1] for line, move in lines.items()}
    hints: list[dict[Step, Hashable]] = []
    for place in range(min(map(len, symbols.values()))):
        if len({said[place] for said in symbols.values()}) <= 4:
            labels: dict[Step, Hashable] = {}
            for (start, box, ahead), said in symbols.items():
                labels[start, box] = labels[box, ahead] = said[place]
            hints.append(labels)
    return hints
