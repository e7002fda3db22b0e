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
from players.puzzles.sokoban.recognition.model import MoveModel, Part, Predicted, walled
from players.puzzles.sokoban.recognition.probes import Probe, keepers_at
from propnet.jit.arrays import Int32s, Octets

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


def probe_pushes(probe: Probe, guess: Guess) -> PushModel | None:
    """The model of a machine whose keeper has nothing to do where there are no boxes; None if it is not
    Sokoban with a push per move."""
    encoding = probe.encoding
    squares, kinds = guess.squares, len(encoding.kinds)
    targets = _targets(probe)
    lines = _lines(probe, targets)
    if not lines:
        return None
    ahead: dict[Step, int | None] = {}
    for start, box, beyond in lines:
        ahead[start, box] = beyond
        for step in ((box, start), (box, beyond), (beyond, box)):
            ahead.setdefault(step, squares)
    terms = probe.machine.network.moves[0]
    hints = [*_symbols(lines, terms), *name_changes(ahead, guess)]
    neighbours = neighbours_of(squares, ahead, hints)
    if neighbours is None:
        return None
    pushes = np.full((kinds, squares, 4), -1, np.int32)
    for kind in range(kinds):
        for (_, box, beyond), move in (lines if not kind else _of_kind(probe, lines, kind)).items():
            pushes[kind, box, neighbours[box].tolist().index(beyond)] = move
    links = _links(probe, lines)
    whole = with_hidden(neighbours, links, {*links, *ahead})
    if whole is None:
        return None
    more = np.full((kinds, len(whole) - 1 - squares, 4), -1, np.int32)
    return PushModel(whole, np.concatenate([pushes, more], axis=1))


def _filled(probe: Probe, keepers: Sequence[int], free: Sequence[Iterable[int]]) -> Octets:
    """Statuses with boxes everywhere but on the keeper's square and the free ones."""
    status = np.full((len(keepers), probe.encoding.squares), BOX, np.uint8)
    for row, squares in enumerate(free):
        status[row, list(squares)] = EMPTY
    status[np.arange(len(keepers)), list(keepers)] = KEEPER
    return status


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
    """All three squares in a row, and the push along them; none if they do not fit together.

    If a box can be pushed it can be pushed back, so what it is pushed to stands in pairs. Of four squares
    those are opposite between which it is pushed when boxes are on all others.
    """
    opposite: dict[tuple[int, int], int] = {}
    asked: list[Line] = []
    for box, moves in targets.items():
        beside = sorted(moves)
        if len(beside) == 2:
            opposite[box, beside[0]], opposite[box, beside[1]] = beside[1], beside[0]
        elif len(beside) == 4:
            standing = [start for start in beside if probe.encoding.can_stand[start]]
            asked += [(start, box, ahead) for start in standing for ahead in beside if start != ahead]
        else:
            return {}
    status = _filled(probe, [start for start, _, _ in asked], [(ahead,) for _, _, ahead in asked])
    wanted = np.array([targets[box][ahead] for _, box, ahead in asked], np.int64)
    legal = probe.legal(status)[np.arange(len(asked)), wanted]
    for start, box, ahead in (asked[row] for row in np.flatnonzero(legal).tolist()):
        rest = sorted(set(targets[box]) - {start, ahead})
        for one, other in ((start, ahead), tuple(rest)):
            if (
                opposite.setdefault((box, one), other) != other
                or opposite.setdefault((box, other), one) != one
            ):
                return {}
    if len(opposite) != sum(map(len, targets.values())):
        return {}
    return {
        (opposite[box, ahead], box, ahead): move
        for box, moves in targets.items()
        for ahead, move in moves.items()
    }


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


def _links(probe: Probe, lines: dict[Line, int]) -> set[Step]:
    """Pairs of squares, both ways, between which the keeper can walk with boxes on all others, other than
    those in rows.

    A push shows that its keeper's square was reached. Where he never stands he is sent from a square beside.
    """
    known = {step for a, b, c in lines for step in ((a, b), (b, a), (b, c), (c, b))}
    shows: dict[int, list[Line]] = {}
    for line in lines:
        shows.setdefault(line[0], []).append(line)
    stands = np.flatnonzero(probe.encoding.can_stand).tolist()
    squares = sorted({*shows, *stands})
    beside = {one: [start for start in stands if (start, one) in known and start != one] for one in squares}

    def asking(one: int, to: int, keepers: Iterable[int], taken: set[Step]) -> list[tuple[Step, int, Line]]:
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
    return {step for one, to in sure for step in ((one, to), (to, one))}


def _shown(probe: Probe, lines: dict[Line, int], asked: Sequence[tuple[Step, int, Line]], believed: Iterable[Step] = ()) -> set[Step]:
    """The pairs of squares between which the keeper can walk with boxes on all others, as all that ask for
    them say, or as was believed if nothing does: he starts on the second thing of a triple and the push
    along the third tells."""
    said = dict.fromkeys(believed, True)
    for low in range(0, len(asked), _ROWS):
        some = asked[low : low + _ROWS]
        free = [(*pair, line[2]) for pair, _, line in some]
        legal = probe.legal(_filled(probe, [keeper for _, keeper, _ in some], free))
        moves = np.array([lines[line] for *_, line in some], np.int64)
        for (pair, *_), good in zip(some, legal[np.arange(len(some)), moves].tolist(), strict=True):
            said[pair] = said.get(pair, True) and good
    return {pair for pair, good in said.items() if good}


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
