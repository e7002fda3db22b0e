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
from players.puzzles.sokoban.recognition.hidden_squares import with_hidden
from players.puzzles.sokoban.recognition.links import Line, filled, links_of
from players.puzzles.sokoban.recognition.model import MoveModel, Part, Predicted, walled
from players.puzzles.sokoban.recognition.probes import Probe, keepers_at
from propnet.jit.arrays import Flags, Int32s, Octets

_ROWS = 4096


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
                reached |= reached[near[:, direction]] & free
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


def probe_pushes(probe: Probe, guess: Guess) -> tuple[PushModel, Probe] | None:
    """The model of a machine whose keeper has nothing to do where there are no boxes, and what to ask it with
    from now on, which knows where boxes can come; None if it is not Sokoban with a push per move."""
    targets = _targets(probe)
    if not targets:
        return None
    probe = probe.reading(probe.encoding.narrowed(_ever_held(probe, targets)))
    lines = _lines(probe, targets)
    squares, kinds = max(guess.squares, 1 + max(line[0] for line in lines)), len(probe.encoding.kinds)
    probe = probe.reading(probe.encoding.widened(squares))
    ahead: dict[Step, int | None] = {}
    for start, box, beyond in lines:
        # Nobody ever pushes the other way where the keeper cannot get behind the box.
        ahead[start, box] = beyond
        ahead.setdefault((beyond, box), start)
    for start, box, beyond in lines:
        for step in ((box, start), (box, beyond), (beyond, box)):
            ahead.setdefault(step, squares)
    hints = [*_symbols(lines, probe.machine.network.moves[0]), *name_changes(ahead, guess)]
    neighbours = neighbours_of(squares, ahead, hints)
    if neighbours is None:
        return None
    links, doubtful = links_of(probe, lines)
    whole = with_hidden(neighbours, links, {*links, *doubtful, *ahead})
    if whole is None:
        return None
    pushes = np.full((kinds, len(whole) - 1, 4), -1, np.int32)
    for kind in range(kinds):
        for (_, box, beyond), move in (lines if not kind else _of_kind(probe, lines, kind)).items():
            pushes[kind, box, neighbours[box].tolist().index(beyond)] = move
    return PushModel(whole, pushes), probe.reading(probe.encoding.widened(len(whole) - 1))


def _ever_held(probe: Probe, targets: dict[int, dict[int, int]]) -> Flags:
    """Where boxes ever are: bool, shape (squares,)."""
    initial = np.asarray(probe.machine.network.initial, np.bool_)
    held: Flags = probe.encoding.status(initial[None])[0] >= BOX
    for box, moves in targets.items():
        held[[box, *moves]] = True
    return held


def _targets(probe: Probe) -> dict[int, dict[int, int]]:
    """For each square the squares that a box can be pushed to from there, if there is no other, and the
    moves."""
    encoding = probe.encoding
    stands, boxes = np.flatnonzero(encoding.can_stand), np.flatnonzero(encoding.can_hold)
    found: dict[int, dict[int, int]] = {}
    seen = np.zeros(probe.machine.network.move_count, np.bool_)
    each = max(1, _ROWS // len(stands))
    for low in range(0, len(boxes), each):
        held, keepers = (part.ravel() for part in np.meshgrid(boxes[low : low + each], stands, indexing="ij"))
        held, keepers = held[held != keepers], keepers[held != keepers]
        status = keepers_at(encoding.squares, keepers)
        status[np.arange(len(held)), held] = BOX
        legal = probe.legal(status)
        moves = np.flatnonzero(legal.any(axis=0))
        if seen[moves].any():
            return {}  # a move that pushes boxes from different squares
        seen[moves] = True
        rows = legal[:, moves].argmax(axis=0)
        after, sound = probe.after(status[rows], moves)
        if not sound.all():
            return {}
        for move, box, came in zip(moves.tolist(), held[rows].tolist(), after, strict=True):
            places = np.flatnonzero(came >= BOX).tolist()
            if came[box] != KEEPER or len(places) != 1:
                return {}
            found.setdefault(box, {})[places[0]] = move
    return found


def _lines(probe: Probe, targets: dict[int, dict[int, int]]) -> dict[Line, int]:
    """All three squares in a row, and the push along them. Where the keeper's square is none that a box comes
    to it gets a new number.

    With boxes on all squares but his and the one ahead the keeper can make a push only from right behind. If
    he never stands there, he comes from a square beside.
    """
    can_stand = probe.encoding.can_stand
    stands = np.flatnonzero(can_stand).tolist()
    never = np.flatnonzero(probe.encoding.can_hold & ~can_stand).tolist()
    beside: dict[int, list[int]] = {}
    for box, moves in targets.items():
        for ahead in moves:
            beside.setdefault(ahead, []).append(box)
    found: dict[tuple[int, int], int] = {}
    for likely in (True, False):
        asked = [
            (start, box, ahead, start)
            for box, moves in targets.items()
            for ahead in moves
            if (box, ahead) not in found
            for start in (moves if likely else stands)
            if can_stand[start] and start not in (box, ahead)
        ]
        found |= _behind(probe, targets, asked)
    asked = [
        (start, box, ahead, keeper)
        for box, moves in targets.items()
        for ahead in moves
        if (box, ahead) not in found
        for start in never
        if start != ahead
        for keeper in beside.get(start, ())
        if keeper not in (box, ahead)
    ]
    found |= _behind(probe, targets, asked)
    new = probe.encoding.squares
    for box, moves in targets.items():
        # What is left of four stands opposite to each other.
        rest = [ahead for ahead in moves if (box, ahead) not in found]
        if len(rest) == 2 and len(moves) in (2, 4):
            found[box, rest[0]], found[box, rest[1]] = rest[1], rest[0]
        else:
            for ahead in rest:
                found[box, ahead] = new
                new += 1
    return {(start, box, ahead): targets[box][ahead] for (box, ahead), start in found.items()}


def _behind(
    probe: Probe, targets: dict[int, dict[int, int]], asked: Sequence[tuple[int, int, int, int]]
) -> dict[tuple[int, int], int]:
    """For boxes and squares ahead of them the square behind, as far as it is found by what is asked: the
    square that is free, the box, the square ahead, and where the keeper is."""
    found: dict[tuple[int, int], int] = {}
    for low in range(0, len(asked), _ROWS):
        some = asked[low : low + _ROWS]
        status = filled(probe, [keeper for *_, keeper in some], [(free, ahead) for free, _, ahead, _ in some])
        moves = np.array([targets[box][ahead] for _, box, ahead, _ in some], np.int64)
        legal = probe.legal(status)[np.arange(len(some)), moves]
        for start, box, ahead, _ in (some[row] for row in np.flatnonzero(legal).tolist()):
            found[box, ahead] = start
            if start in targets[box]:
                found[box, start] = ahead
    return found


def _of_kind(probe: Probe, lines: Iterable[Line], kind: int) -> dict[Line, int]:
    """The pushes along these lines of a box of this kind."""
    triples = list(lines)
    status = filled(probe, [line[0] for line in triples], [line[2:] for line in triples])
    boxes = np.array([line[1] for line in triples])
    status[np.arange(len(triples)), boxes] = BOX + kind
    given = probe.followers(status)
    moved = given.status[np.arange(len(given.rows)), boxes[given.rows]] == KEEPER
    return {
        triples[row]: move
        for row, move in zip(given.rows[moved].tolist(), given.moves[moved].tolist(), strict=True)
    }


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
