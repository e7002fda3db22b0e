"""Recognise Sokoban in a network whose symbols mean nothing, and translate states and lines.

The base propositions are read (:mod:`.encoding`), and the machine is queried about constructed states
(:mod:`.probes`). The resulting model is compared with the machine on thousands of random states
(:mod:`.model`). If anything differs, the game is not Sokoban. Solutions become moves of the machine, which
replays them before they are accepted.

Probes find the step or push of each move. If a move is a step, the keeper is put alone on each square, and
then with one box before him. If a move is a push, his walks are invisible. So all squares but a few get
boxes: the pushes that he can make then show where he stands, and which squares are next to each other.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gdl.machine import State
from gdl.terms import Term
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push, reachable, shortest_walk
from players.puzzles.sokoban.recognition.directions import Step, neighbours_of, places_of, with_hidden
from players.puzzles.sokoban.recognition.encoding import (
    BOX,
    EMPTY,
    KEEPER,
    Encoding,
    Guess,
    encodings,
    guesses,
    name_changes,
    taken_apart,
)
from players.puzzles.sokoban.recognition.model import Claim, MoveModel, PushModel, StepModel, holds
from players.puzzles.sokoban.recognition.probes import (
    Clock,
    Followers,
    Probe,
    goal_squares,
    keepers_at,
)
from players.solvers import highest_goal
from propnet.analysis.cones import clocks
from propnet.analysis.ternary import constant_bases
from propnet.jit.arrays import Flags, Int32s, Octets
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.passes.circuit import FALSE

_ROWS = 4096

Line = tuple[int, int, int]
"""Three squares in a row: the keeper's, the box's, and the box's next one."""

Question = tuple[Step, int, Line]
"""A query whether two squares are next to each other: the pair, the keeper's first square, and the push that
he could then make."""


def _probe_steps(probe: Probe, guess: Guess, alone: Followers) -> StepModel | None:
    """Return the model of a machine from its moves with the keeper alone, on each of his squares in turn, and
    with one box before him; None if that is not Sokoban with single steps."""
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
    """Return the square straight ahead of each step, and the moves that push a box of each kind there."""
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


def _probe_pushes(probe: Probe, guess: Guess) -> tuple[PushModel, Probe] | None:
    """Return the model of a machine whose keeper has no moves without boxes, and a probe that knows where
    boxes can be; None if it is not Sokoban with a push per move."""
    targets = _targets(probe)
    if not targets:
        return None
    probe = probe.reading(probe.encoding.narrowed(_ever_held(probe, targets)))
    lines = _lines(probe, targets)
    squares, kinds = max(guess.squares, 1 + max(line[0] for line in lines)), len(probe.encoding.kinds)
    probe = probe.reading(probe.encoding.widened(squares))
    ahead: dict[Step, int | None] = {}
    for start, box, beyond in lines:
        # The opposite push never happens if the keeper cannot get behind the box.
        ahead[start, box] = beyond
        ahead.setdefault((beyond, box), start)
    for start, box, beyond in lines:
        for step in ((box, start), (box, beyond), (beyond, box)):
            ahead.setdefault(step, squares)
    hints = [*_symbols(lines, probe.machine.network.moves[0]), *name_changes(ahead, guess)]
    neighbours = neighbours_of(squares, ahead, hints)
    if neighbours is None:
        return None
    links, doubtful = _links_of(probe, lines)
    whole = with_hidden(neighbours, links, {*links, *doubtful, *ahead})
    if whole is None:
        return None
    pushes = np.full((kinds, len(whole) - 1, 4), -1, np.int32)
    for kind in range(kinds):
        for (_, box, beyond), move in (lines if not kind else _of_kind(probe, lines, kind)).items():
            pushes[kind, box, neighbours[box].tolist().index(beyond)] = move
    return PushModel(whole, pushes), probe.reading(probe.encoding.widened(len(whole) - 1))


def _ever_held(probe: Probe, targets: dict[int, dict[int, int]]) -> Flags:
    """Return the squares that ever have boxes: bool, shape (squares,)."""
    initial = np.asarray(probe.machine.network.initial, np.bool_)
    held: Flags = probe.encoding.status(initial[None])[0] >= BOX
    for box, moves in targets.items():
        held[[box, *moves]] = True
    return held


def _targets(probe: Probe) -> dict[int, dict[int, int]]:
    """Return for each square the squares to which a lone box can be pushed from there, and the moves."""
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
    """Return all triples of squares in a row, and the push along each. A keeper's square to which no box
    comes gets a new number.

    With boxes on all squares but his and the one ahead, the keeper can make a push only from right behind. If
    he never stands there, he comes from a neighbouring square.
    """
    can_stand = probe.encoding.can_stand
    stands = np.flatnonzero(can_stand).tolist()
    never = np.flatnonzero(probe.encoding.can_hold & ~can_stand).tolist()
    adjacent: dict[int, list[int]] = {}
    for box, moves in targets.items():
        for ahead in moves:
            adjacent.setdefault(ahead, []).append(box)
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
        for keeper in adjacent.get(start, ())
        if keeper not in (box, ahead)
    ]
    found |= _behind(probe, targets, asked)
    new = probe.encoding.squares
    for box, moves in targets.items():
        # The last two of four squares are opposite to each other.
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
    """Return the square behind, for boxes and the squares ahead of them, as far as the queries find it. A
    query is the free square, the box, the square ahead, and the keeper's square."""
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
    """Return the pushes along these lines of a box of this kind."""
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
    """Return the symbols of pushes as labels of their steps: the places with at most four values."""
    symbols = {line: taken_apart(terms[move])[1] for line, move in lines.items()}
    hints: list[dict[Step, Hashable]] = []
    for place in range(min(map(len, symbols.values()))):
        if len({values[place] for values in symbols.values()}) <= 4:
            labels: dict[Step, Hashable] = {}
            for (start, box, ahead), values in symbols.items():
                labels[start, box] = labels[box, ahead] = values[place]
            hints.append(labels)
    return hints


def filled(probe: Probe, keepers: Sequence[int], free: Sequence[Iterable[int]]) -> Octets:
    """Return statuses, uint8 (n, squares), with boxes on all possible squares except the keeper's and the
    free ones."""
    status = np.where(probe.encoding.can_hold, BOX, EMPTY).astype(np.uint8)[None].repeat(len(keepers), axis=0)
    for row, squares in enumerate(free):
        status[row, list(squares)] = EMPTY
    status[np.arange(len(keepers)), list(keepers)] = KEEPER
    return status


def _links_of(probe: Probe, lines: dict[Line, int]) -> tuple[set[Step], set[Step]]:
    """Return pairs of squares, both ways, between which the keeper can walk with boxes on all others, except
    pairs in rows; and pairs that cannot be distinguished from these.

    A push shows that its keeper's square was reached. If he never stands there, he is sent from a
    neighbouring square.
    """
    in_rows = {step for a, b, c in lines for step in ((a, b), (b, a), (b, c), (c, b))}
    shows: dict[int, list[Line]] = {}
    for line in lines:
        shows.setdefault(line[0], []).append(line)
    stands = np.flatnonzero(probe.encoding.can_stand).tolist()
    squares = sorted({*shows, *stands})
    adjacent = {
        one: [start for start in stands if (start, one) in in_rows and start != one] for one in squares
    }

    def asking(one: int, to: int, keepers: Iterable[int], taken: set[Step]) -> list[Question]:
        """Return queries for a pair, with the keeper on the first square or on a neighbour of it that is not
        next to the second."""
        return [
            ((min(one, to), max(one, to)), keeper, line)
            for keeper in keepers
            if keeper != to and (keeper == one or (keeper, to) not in taken)
            for line in shows.get(to, [])
            if line[1] not in (one, keeper)
        ]

    unknown = [(one, to) for one in squares for to in squares if one != to and (one, to) not in in_rows]
    standing = set(stands)
    first = [
        question
        for one, to in unknown
        if one in standing or (to not in standing and one < to)
        for question in asking(one, to, [one] if one in standing else adjacent[one], in_rows)[:1]
    ]
    found = _shown(probe, lines, first)
    # Some pushes mislead: the keeper may have walked over the box's next square. So a pair must hold in all
    # queries.
    taken = in_rows | found | {(to, one) for one, to in found}
    again = [
        question
        for pair in found
        for one, to in (pair, pair[::-1])
        for question in asking(one, to, [*([one] if one in standing else []), *adjacent[one]], taken)
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
    """Return the pairs of squares between which the keeper can walk with boxes on all others, according to
    all queries for them; without a query a believed pair stays. In a query the keeper starts on its second
    entry, and the push along its third entry gives the answer."""
    holds = dict.fromkeys(believed, True)
    for low in range(0, len(asked), _ROWS):
        some = asked[low : low + _ROWS]
        free = [(*pair, line[2]) for pair, _, line in some]
        legal = probe.legal(filled(probe, [keeper for _, keeper, _ in some], free))
        moves = np.array([lines[line] for *_, line in some], np.int64)
        for (pair, *_), good in zip(some, legal[np.arange(len(some)), moves].tolist(), strict=True):
            holds[pair] = holds.get(pair, True) and good
    return {pair for pair, good in holds.items() if good}


_FEWEST_BASES = 6
_MOST_SQUARES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Recognised:
    """A game that is Sokoban.

    Attributes:
        geometry: the geometry of the level.
        squares: int32, shape (size,): the encoding's number of each square.
        claim: machine and model, and the facts proven about them.
        clock: the step counter.
    """

    geometry: Geometry
    squares: Int32s
    claim: Claim
    clock: Clock

    @property
    def by_steps(self) -> bool:
        """Whether a move is a step of the keeper; otherwise it is a push."""
        return isinstance(self.claim.model, StepModel)

    def status(self, state: State) -> Octets:
        """Return the contents of each square, uint8 (squares,), in the encoding's order of squares."""
        probe = self.claim.probe
        bits = self._bits(state)
        status: Octets = probe.encoding.status(bits)[0]
        return status

    def position(self, state: State) -> Position:
        """Return the position of keeper and boxes, in squares of the geometry."""
        status = self.status(state)[self.squares]
        boxes = np.flatnonzero(status >= BOX).tolist()
        return Position(tuple(boxes), int(np.flatnonzero(status == KEEPER)[0]))

    def anchored(self, position: Position) -> Position:
        """Return the position with the keeper on the lowest square that he can walk to."""
        shut = {*position.boxes, self.geometry.size}
        walked = reachable(self.geometry.neighbours.tolist(), shut, position.keeper)
        return Position(position.boxes, min(walked))

    def clock_rows(self, state: State) -> Iterator[Flags]:
        """Yield the values of the clocks from this state on, bool (at most 512, clocks) at a time."""
        return self.clock.run(self._bits(state)[0, self.clock.bases])

    def moves_left(self, state: State) -> int | None:
        """Return the number of moves after which the step counter ends the match; None if it never does."""
        return _moves_left(self.claim.probe, self.status(state), self.clock_rows(state))

    def _bits(self, state: State) -> Flags:
        machine = self.claim.probe.machine
        return unpack(machine.records([state]), len(machine.network.bases))


def recognise(machine: PropnetMachine) -> Recognised | None:
    """Return the Sokoban in a machine's game; None if it is another game, or differs in any way.

    The last results are cached: a match asks at every turn, and when a faster machine of the same network is
    ready.
    """
    network = machine.network
    for reference, cached in _cache:
        earlier = reference()
        if earlier is not None and network.same_as(earlier.network):
            return cached
    if len(machine.roles) != 1 or len(network.bases) < _FEWEST_BASES or not network.move_count:
        found = None
    else:
        found = next(_recognised(machine), None)
    _cache.append((weakref.ref(machine), found))
    del _cache[:-4]
    return found


_cache: list[tuple[weakref.ref[PropnetMachine], Recognised | None]] = []


def _recognised(machine: PropnetMachine) -> Iterator[Recognised]:
    network = machine.network
    best = highest_goal(network)
    initial = np.asarray(network.initial, np.bool_)
    steady = clocks(network)
    open_ = ~steady & ~constant_bases(network)
    fading = steady & initial & (network.next_literals == FALSE)
    start = machine.initial_state()
    moves = machine.legal_moves(start, 0)
    if best <= 0 or not moves or machine.is_terminal(start) or not (open_ & initial).any():
        return
    after = machine.successors(
        np.repeat(machine.records([start]), len(moves), axis=0), np.array(moves, np.int32)[:, None]
    )
    bits = unpack(after, len(network.bases))
    bits = bits[(bits[:, open_] != initial[open_]).any(axis=1)]
    if not len(bits):
        return
    for guess in guesses(network.bases, open_, fading, initial, bits):
        if guess.squares > _MOST_SQUARES:
            continue
        keeper = np.zeros_like(open_)
        keeper[guess.keeper.bases] = True
        for encoding in encodings(guess, initial, bits[0]):
            found = _tried(machine, guess, encoding, steady & ~keeper, best)
            if found is not None:
                yield found


def _tried(
    machine: PropnetMachine, guess: Guess, encoding: Encoding, steady: Flags, best: int
) -> Recognised | None:
    """Return the game in this reading; None if it is not Sokoban."""
    probe = Probe(machine, encoding, steady)
    alone = probe.followers(keepers_at(guess.squares, np.flatnonzero(encoding.can_stand)))
    model: MoveModel | None
    if len(alone.rows):
        model = _probe_steps(probe, guess, alone)
    else:
        model, probe = _probe_pushes(probe, guess) or (None, probe)
    if model is None:
        return None
    encoding = probe.encoding
    goals = goal_squares(probe, best)
    if goals is None:
        return None
    initial = np.asarray(machine.network.initial, np.bool_)
    status = encoding.status(initial[None])[0]
    inside = _walkable(model.neighbours, int(np.flatnonzero(status == KEEPER)[0]))
    at_goal = np.zeros(encoding.squares, np.bool_)
    at_goal[goals] = True
    if not _is_a_level(status, inside, at_goal):
        return None
    clock = Clock(machine.network, steady)
    left = _moves_left(probe, status, clock.run(initial[clock.bases]))
    rows = next(clock.run(initial[clock.bases]))[:left]
    claim = Claim(probe, model, status, inside, at_goal, best, rows)
    if not holds(claim):
        return None
    geometry, squares = _geometry(model.neighbours, inside, at_goal)
    return Recognised(geometry, squares, claim, clock)


def _walkable(neighbours: Int32s, keeper: int) -> Flags:
    """Return the squares to which the keeper could walk without boxes."""
    inside = np.zeros(len(neighbours), np.bool_)
    inside[keeper] = True
    count = 0
    while count != (count := int(inside.sum())):
        inside[neighbours[inside]] = True
        inside[-1] = False
    return inside[:-1]


def _is_a_level(status: Octets, inside: Flags, goals: Flags) -> bool:
    """Return whether there are boxes to push, at most as many as goals, and all unreachable boxes are on
    goals."""
    boxes = status >= BOX
    reachable = int((boxes & inside).sum())
    return 0 < reachable <= int((goals & inside).sum()) and not (boxes & ~inside & ~goals).any()


def _geometry(neighbours: Int32s, inside: Flags, goals: Flags) -> tuple[Geometry, Int32s]:
    """Return the geometry of the squares that can be walked to, and their numbers."""
    squares = np.flatnonzero(inside)
    size = len(squares)
    numbers = np.full(len(neighbours), size, np.int32)
    numbers[squares] = np.arange(size)
    near = np.full((size + 1, 4), size, np.int32)
    near[:-1] = numbers[neighbours[squares]]
    places = places_of(near, 0)
    order = np.lexsort((places[:, 1], places[:, 0]))
    numbers[squares[order]] = np.arange(size)
    squares = squares[order]
    near[:-1] = numbers[neighbours[squares]]
    geometry = Geometry(near, np.flatnonzero(goals[squares]).astype(np.int32), places[order])
    return geometry, squares.astype(np.int32)


def _moves_left(probe: Probe, status: Octets, rows: Iterator[Flags]) -> int | None:
    """Return the first of these values of clocks that ends the match in a state that otherwise does not end
    it."""
    count = 0
    for clock in rows:
        records = probe.records(np.repeat(status[None], len(clock), axis=0), clock)
        over = np.flatnonzero(probe.machine.evaluate(records).terminal)
        if len(over):
            return count + int(over[0])
        count += len(clock)
    return None


def machine_line(game: Recognised, state: State, pushes: Sequence[Push]) -> list[int] | None:
    """Return the moves that make these pushes from a state on; None if the match ends before, or if the
    machine disagrees."""
    model = game.claim.model
    neighbours: list[list[int]] = model.neighbours.tolist()
    now = game.status(state)
    states: list[Octets] = [now]
    moves: list[int] = []
    for square, direction in pushes:
        box = int(game.squares[square])
        if isinstance(model, StepModel):
            shut = {len(now), *np.flatnonzero(now != EMPTY).tolist()}
            keeper = int(np.flatnonzero(now == KEEPER)[0])
            way = shortest_walk(neighbours, shut, keeper, neighbours[box][direction ^ 2])
            if way is None:
                return None
            for step in way:
                now = _stepped(model, now, step, moves)
                states.append(now)
            now = _stepped(model, now, direction, moves)
        elif isinstance(model, PushModel):
            moves.append(int(model.pushes[now[box] - BOX, box, direction]))
            ahead = model.neighbours[box, direction]
            kind = now[box]
            now = np.where(now == KEEPER, EMPTY, now).astype(np.uint8)
            now[ahead], now[box] = kind, KEEPER
        states.append(now)
    left = game.moves_left(state)
    if left is not None and len(moves) > left:
        return None
    return moves if _proven(game, state, np.array(states), moves) else None


def _stepped(model: StepModel, status: Octets, direction: int, moves: list[int]) -> Octets:
    """Return the statuses after a step, and append its move."""
    keeper = int(np.flatnonzero(status == KEEPER)[0])
    to = int(model.neighbours[keeper, direction])
    after = status.copy()
    if status[to] >= BOX:
        moves.append(int(model.pushes[status[to] - BOX, keeper, direction]))
        after[model.neighbours[to, direction]] = status[to]
    else:
        moves.append(int(model.walks[keeper, direction]))
    after[keeper], after[to] = EMPTY, KEEPER
    return after


def _proven(game: Recognised, state: State, states: Octets, moves: list[int]) -> bool:
    """Return whether the machine plays this line from state to state, with the best goal at its end and not
    before."""
    claim = game.claim
    count = len(moves)
    clock = _first(game, state, count + 1)
    done = np.array(moves, np.int64)
    legal = claim.probe.legal(states[:-1], clock[:-1])
    after, sound = claim.probe.after(states[:-1], done, clock[:-1])
    end = claim.probe.machine.evaluate(claim.probe.records(states, clock))
    return bool(
        legal[np.arange(count), done].all()
        and sound.all()
        and (after == states[1:]).all()
        and not end.terminal[:-1].any()
        and end.terminal[-1]
        and end.goals[-1, 0] == claim.best
    )


def _first(game: Recognised, state: State, count: int) -> Flags:
    """Return the first ``count`` rows of the clocks from a state on; after their end the last one is
    repeated."""
    parts: list[Flags] = []
    for rows in game.clock_rows(state):
        parts.append(rows)
        if sum(map(len, parts)) >= count:
            break
    rows = np.concatenate(parts)
    return rows[np.minimum(np.arange(count), len(rows) - 1)]
