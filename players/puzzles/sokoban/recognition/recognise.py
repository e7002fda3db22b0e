"""Recognise Sokoban in a network whose symbols mean nothing, and translate states and lines.

The base propositions are read (:mod:`.encoding`), and the machine is queried about constructed states
(:mod:`.probes`). The resulting model is compared with the machine on thousands of random states. If anything
differs, the game is not Sokoban. Solutions become moves of the machine, which
replays them before they are accepted.

Probes find the step of each move: the keeper is put alone on each square, and then with one box before him.
:mod:`.pushes` has those for rules in which a move is a push.
"""

from __future__ import annotations

import weakref
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gdl.machine import State
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push, reachable, shortest_walk
from players.puzzles.sokoban.recognition.directions import Step, neighbours_of, places_of
from players.puzzles.sokoban.recognition.encoding import (
    BOX,
    EMPTY,
    KEEPER,
    Encoding,
    Guess,
    encodings,
    guesses,
    name_changes,
)
from players.puzzles.sokoban.recognition.probes import (
    Clock,
    Followers,
    Probe,
    goal_squares,
    keepers_at,
)
from players.puzzles.sokoban.recognition.pushes import probe_pushes
from players.solvers import highest_goal
from propnet.analysis.cones import clocks
from propnet.analysis.ternary import constant_bases
from propnet.jit.arrays import Flags, Int32s, Ints, Octets
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.passes.circuit import FALSE

_WALLED = 255
"""The status of the outside square."""

_Part = tuple[Ints, Ints, Octets]


@dataclass(frozen=True, slots=True)
class _Predicted:
    """The legal moves of some states and their results, by state and move: ``rows`` and ``moves``, int64
    (m,), and ``status``, uint8 (m, squares)."""

    rows: Ints
    moves: Ints
    status: Octets

    @classmethod
    def joined(cls, parts: Sequence[_Part]) -> _Predicted:
        """Join several parts into one."""
        rows = np.concatenate([part[0] for part in parts])
        moves = np.concatenate([part[1] for part in parts])
        order = np.lexsort((moves, rows))
        return cls(rows[order], moves[order], np.concatenate([part[2] for part in parts])[order])


def _walled(status: Octets) -> Octets:
    """Return statuses with one more square, the outside: uint8 (n, squares + 1)."""
    board = np.full((len(status), status.shape[1] + 1), _WALLED, np.uint8)
    board[:, :-1] = status
    return board


@dataclass(frozen=True, slots=True, eq=False)
class _Model:
    """The moves of a machine: one step of the keeper each, or one push with the walk to it.

    Attributes:
        neighbours: int32, shape (squares + 1, 4), as in a geometry.
        moves: int32, shape (statuses, squares, 4): the move that leads from a square in a direction if the
            next square has that status: a walk, or the push of a box of its kind; -1 if there is none.
        idle: bool, shape (squares, moves): moves that change nothing.
    """

    neighbours: Int32s
    moves: Int32s
    idle: Flags

    @classmethod
    def of(cls, neighbours: Int32s, moves: Mapping[Step, Sequence[int]], idle: Flags) -> _Model:
        """Make the model from the moves of each step by the status of its second square."""
        squares = len(neighbours) - 1
        table = np.full((len(next(iter(moves.values()))), squares, 4), -1, np.int32)
        for square, direction in np.argwhere(neighbours[:-1] != squares).tolist():
            table[:, square, direction] = moves.get((square, int(neighbours[square, direction])), -1)
        return cls(neighbours, table, idle)

    @property
    def by_steps(self) -> bool:
        """Whether a move is a step; otherwise it is a push."""
        return bool((self.moves[EMPTY] >= 0).any())

    def predicted(self, status: Octets) -> _Predicted:
        """Return the legal moves in these states, uint8 (n, squares), and their results."""
        board, near = _walled(status), self.neighbours
        free = np.packbits(((board == EMPTY) | (board == KEEPER)).T, axis=1)
        boxed = np.packbits(((board >= BOX) & (board != _WALLED)).T, axis=1)
        reached = np.packbits((board == KEEPER).T, axis=1)
        before = reached if self.by_steps else np.zeros_like(reached)
        while (before != reached).any():
            before = reached.copy()
            for direction in range(4):
                reached |= reached[near[:, direction]] & free
        rows, moves = np.nonzero(self.idle[(status == KEEPER).argmax(axis=1)])
        parts = [(rows, moves, status[rows])]
        for direction in range(4):
            to = near[:, direction]
            able = reached & boxed[to] & free[near[to, direction]]
            if self.by_steps:
                able |= reached & free[to]
            start, rows = np.nonzero(np.unpackbits(able, axis=1, count=len(status)))
            entered, each = to[start], np.arange(len(rows))
            held, after = status[rows, entered], status[rows]
            after[after == KEEPER] = EMPTY
            pushed = held >= BOX
            after[each[pushed], near[entered[pushed], direction]] = held[pushed]
            after[each, entered] = KEEPER
            parts.append((rows, self.moves[held, start, direction].astype(np.int64), after))
        return _Predicted.joined(parts)


_STATES = 4096
"""The number of random states that are compared."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """A claim to check: machine and model agree.

    Attributes:
        probe, model: the machine and our model.
        start: uint8, shape (squares,): the initial statuses.
        inside: bool, shape (squares,): the squares to which the keeper could walk without boxes.
        goals: bool, shape (squares,).
        best: the goal value of solved states and no others.
        clock: bool, shape (n, clocks): values of clocks before the match is over.
    """

    probe: Probe
    model: _Model
    start: Octets
    inside: Flags
    goals: Flags
    best: int
    clock: Flags

    def solved(self, status: Octets) -> Flags:
        """Return whether every box is on a goal."""
        astray = ((status >= BOX) & ~self.goals).any(axis=1)
        return np.logical_not(astray)


def _holds(claim: _Claim) -> bool:
    """Return whether machine and model agree in :data:`_STATES` random states: in the legal moves, their
    results and the best goal, and the match ends as soon as every box is on a goal."""
    rng = np.random.default_rng(1)
    status = _random_states(claim, _STATES, rng)
    clock = claim.clock[rng.integers(len(claim.clock), size=_STATES)]
    predicted = claim.model.predicted(status)
    given = claim.probe.followers(status, clock)
    if not (
        len(given.rows) == len(predicted.rows)
        and (given.rows == predicted.rows).all()
        and (given.moves == predicted.moves).all()
        and given.sound.all()
        and (given.status == predicted.status).all()
    ):
        return False
    evaluated = claim.probe.machine.evaluate(claim.probe.records(status, clock))
    solved = claim.solved(status)
    if ((evaluated.goals[:, 0] == claim.best) != solved).any() or not solved.any() or solved.all():
        return False
    stuck = np.ones(_STATES, np.bool_)
    stuck[predicted.rows] = False
    return bool((evaluated.terminal == solved)[~stuck].all())


def _random_states(claim: _Claim, states: int, rng: np.random.Generator) -> Octets:
    """Return statuses, uint8 (states, squares), with the initial numbers of boxes. A third of the states has
    boxes around the keeper, a third has them on goals or nearly so."""
    squares = len(claim.start)
    boxes = claim.start[claim.inside & (claim.start >= BOX)]
    floor = np.flatnonzero(claim.inside)
    keeper = rng.choice(floor[claim.probe.encoding.can_stand[floor]], size=_STATES)
    draws = rng.random((states, squares))
    near = np.zeros((squares + 1, squares + 1), np.bool_)
    for direction in range(4):
        adjacent = claim.model.neighbours[:, direction]
        near[np.arange(squares + 1), adjacent] = True
        near[np.arange(squares + 1), adjacent[adjacent]] = True
    third = np.arange(states) % 3
    draws[third == 1] += 0.4 * near[keeper[third == 1], :squares]
    draws[third == 2] += 1.0 * claim.goals
    # In every second state one of these boxes is elsewhere.
    astray = np.flatnonzero((third == 2) & (rng.random(states) < 0.5))
    draws[astray, rng.choice(floor, size=len(astray))] += 2.0
    draws[:, ~(claim.inside & claim.probe.encoding.can_hold)] = -1.0
    order = np.argsort(-draws, axis=1)[:, : len(boxes) + 1]
    # The keeper does not stand on a box: if he would, the next square gets it.
    order = np.where(np.cumsum(order == keeper[:, None], axis=1) > 0, np.roll(order, -1, axis=1), order)
    order = order[:, : len(boxes)]
    status = np.where(claim.inside, EMPTY, claim.start).astype(np.uint8)
    status = np.repeat(status[None], states, axis=0)
    rows = np.arange(states)
    status[rows[:, None], order] = rng.permuted(np.repeat(boxes[None], states, axis=0), axis=1)
    status[rows, keeper] = KEEPER
    return status


def _probe_steps(probe: Probe, guess: Guess, alone: Followers) -> _Model | None:
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
    none = [-1] * len(probe.encoding.kinds)
    moves_of = {step: [walk, -1, *pushes.get(step, none)] for step, walk in walks.items()}
    return _Model.of(neighbours, moves_of, idle)


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
    claim: _Claim
    clock: Clock

    @property
    def by_steps(self) -> bool:
        """Whether a move is a step of the keeper; otherwise it is a push."""
        return self.claim.model.by_steps

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
    model = None
    if len(alone.rows):
        model = _probe_steps(probe, guess, alone)
    elif pushes := probe_pushes(probe, guess):
        neighbours, moves, encoding = pushes
        probe = Probe(machine, encoding, steady)
        idle = np.zeros((encoding.squares, machine.network.move_count), np.bool_)
        model = _Model.of(neighbours, moves, idle)
    if model is None:
        return None
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
    claim = _Claim(probe, model, status, inside, at_goal, best, rows)
    if not _holds(claim):
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
        shut = {len(now), *np.flatnonzero(now != EMPTY).tolist()}
        keeper = int(np.flatnonzero(now == KEEPER)[0])
        way = shortest_walk(neighbours, shut, keeper, neighbours[box][direction ^ 2])
        if way is None:
            return None
        for step in (*way, direction):
            now = _stepped(model, now, step, moves)
            if len(moves) == len(states):
                states.append(now)
    left = game.moves_left(state)
    if left is not None and len(moves) > left:
        return None
    return moves if _proven(game, state, np.array(states), moves) else None


def _stepped(model: _Model, status: Octets, direction: int, moves: list[int]) -> Octets:
    """Return the statuses after a step, and append its move if it has one."""
    keeper = int(np.flatnonzero(status == KEEPER)[0])
    to = int(model.neighbours[keeper, direction])
    after = status.copy()
    if status[to] >= BOX:
        after[model.neighbours[to, direction]] = status[to]
    if (move := int(model.moves[status[to], keeper, direction])) >= 0:
        moves.append(move)
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
