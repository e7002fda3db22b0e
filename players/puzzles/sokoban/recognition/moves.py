"""Which move is which step or push, found by probes.

Where a move is a step, the keeper is put alone on each square, and one box before him. Where a move is a
push, his walks do not show. So all squares but a few are filled with boxes: what he can push then tells where
he stands, and which squares are next to each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from gdl.terms import Term
from players.puzzles.sokoban.recognition.directions import Step, neighbours_of, with_hidden
from players.puzzles.sokoban.recognition.encoding import BOX, EMPTY, KEEPER, Guess, name_changes, taken_apart
from players.puzzles.sokoban.recognition.model import PushModel, StepModel
from players.puzzles.sokoban.recognition.probes import Followers, Probe, keepers_at
from propnet.jit.arrays import Flags, Octets

_ROWS = 4096

Line = tuple[int, int, int]
"""Three squares in a row: the keeper's, the box's, and where that goes."""

Question = tuple[Step, int, Line]
"""Whether two squares are next to each other: where the keeper starts, and what he could push then."""


def probe_steps(probe: Probe, guess: Guess, alone: Followers) -> StepModel | None:
    """The model of a machine by what it does with the keeper alone, on each of his squares in turn, and with
    one box before him; None if that is not Sokoban with single steps."""
    squares, moves = guess.squares, probe.machine.network.move_count
    begin = np.flatnonzero(probe.encoding.can_stand)[alone.rows]
    there = (alone.status == KEEPER).argmax(axis=1)
    if not alone.sound.all() or not ((alone.status != EMPTY).sum(axis=1) == 1).all():
        return None
    stays = there == begin
    idle = np.zeros((squares, moves), np.bool_)
    idle[begin[stays], alone.moves[stays]] = True
    pairs = list(zip(begin[~stays].tolist(), there[~stays].tolist(), strict=True))
    walks: dict[Step, int] = dict(zip(pairs, alone.moves[~stays].tolist(), strict=True))
    if not walks or len(walks) != len(pairs) or len(walks) > 4 * squares:
        return None
    ahead, pushes = _push_probes(probe, list(walks))
    labels: list[Mapping[Step, Hashable]] = [walks, *name_changes(walks, guess)]
    neighbours = neighbours_of(squares, ahead, labels)
    if neighbours is None:
        return None
    by_direction = np.full((squares, 4), -1, np.int32)
    by_push = np.full((len(probe.encoding.kinds), squares, 4), -1, np.int32)
    for square in range(squares):
        for direction, to in enumerate(neighbours[square].tolist()):
            if to != squares:
                by_direction[square, direction] = walks[square, to]
                by_push[:, square, direction] = pushes.get((square, to), -1)
    return StepModel(neighbours, by_direction, by_push, idle)


def _push_probes(probe: Probe, steps: list[Step]) -> tuple[dict[Step, int | None], dict[Step, list[int]]]:
    """Where each step leads on to, and the moves that push a box of each kind there."""
    encoding = probe.encoding
    squares, kinds = encoding.squares, len(encoding.kinds)
    ahead: dict[Step, int | None] = {step: squares if encoding.can_hold[step[1]] else None for step in steps}
    pushes: dict[Step, list[int]] = {}
    tried = [step for step in steps if encoding.can_hold[step[1]]]
    starts, squares_to = np.array(tried or np.zeros((0, 2)), np.int64).T
    for kind in range(kinds):
        status = keepers_at(squares, starts)
        status[np.arange(len(tried)), squares_to] = BOX + kind
        given = probe.followers(status)
        came = given.status[np.arange(len(given.rows)), squares_to[given.rows]] == KEEPER
        for row, move, after in zip(
            given.rows[came].tolist(), given.moves[came].tolist(), given.status[came], strict=True
        ):
            box = np.flatnonzero(after >= BOX).tolist()
            if len(box) == 1:
                ahead[tried[row]] = box[0]
                pushes.setdefault(tried[row], [-1] * kinds)[kind] = move
    return ahead, pushes


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
