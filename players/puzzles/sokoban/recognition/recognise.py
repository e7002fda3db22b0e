"""Recognises Sokoban in a network whose symbols mean nothing, and translates states and lines.

The base propositions are read (:mod:`.encoding`), the machine is asked about made-up states (:mod:`.moves`),
and what comes of it is compared with the machine on thousands of random ones (:mod:`.model`). Where anything
differs, it is not Sokoban. Solutions become moves of the machine, which proves them before they are believed.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gdl.machine import State
from players.puzzles.sokoban.geometry import Geometry, Position
from players.puzzles.sokoban.lines import Push, reachable, shortest_walk
from players.puzzles.sokoban.recognition.directions import places_of
from players.puzzles.sokoban.recognition.encoding import (
    BOX,
    EMPTY,
    KEEPER,
    Encoding,
    Guess,
    encodings,
    guesses,
)
from players.puzzles.sokoban.recognition.model import Claim, MoveModel, PushModel, StepModel, ends_when_solved
from players.puzzles.sokoban.recognition.moves import probe_pushes, probe_steps
from players.puzzles.sokoban.recognition.probes import Clock, Probe, best_goal, goal_squares, keepers_at
from propnet.analysis.cones import clocks
from propnet.analysis.ternary import constant_bases
from propnet.jit.arrays import Flags, Int32s, Octets
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.passes.circuit import FALSE

_FEWEST_BASES = 6
_MOST_SQUARES = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class Recognised:
    """A game that is Sokoban.

    Attributes:
        geometry: the level's.
        squares: int32, shape (size,): the number that the encoding has for each square.
        claim: machine and model, and what was proven of them.
        clock: the step counter.
        over: whether the match ends as soon as every box is on a goal; else only by the step counter.
    """

    geometry: Geometry
    squares: Int32s
    claim: Claim
    clock: Clock
    over: bool

    @property
    def by_steps(self) -> bool:
        """Whether a move is a step of the keeper; else it is a push."""
        return isinstance(self.claim.model, StepModel)

    def status(self, state: State) -> Octets:
        """What each square holds, uint8 (squares,), as the encoding numbers squares."""
        probe = self.claim.probe
        bits = self._bits(state)
        status: Octets = probe.encoding.status(bits)[0]
        return status

    def position(self, state: State) -> Position:
        """Where everything stands, in squares of the geometry."""
        status = self.status(state)[self.squares]
        boxes = np.flatnonzero(status >= BOX).tolist()
        return Position(tuple(boxes), int(np.flatnonzero(status == KEEPER)[0]))

    def anchored(self, position: Position) -> Position:
        """The same with the keeper on the lowest square that he can walk to."""
        shut = {*position.boxes, self.geometry.size}
        walked = reachable(self.geometry.neighbours.tolist(), shut, position.keeper)
        return Position(position.boxes, min(walked))

    def clock_rows(self, state: State) -> Iterator[Flags]:
        """The values of the clocks from this state on, bool (at most 512, clocks) at a time."""
        return self.clock.run(self._bits(state)[0, self.clock.bases])

    def moves_left(self, state: State) -> int | None:
        """After how many moves the step counter ends the match; None if it never does."""
        return _moves_left(self.claim.probe, self.status(state), self.clock_rows(state))

    def _bits(self, state: State) -> Flags:
        machine = self.claim.probe.machine
        return unpack(machine.records([state]), len(machine.network.bases))


def recognise(machine: PropnetMachine) -> Recognised | None:
    """The Sokoban in a machine's game; None if it is another game, or one that differs in anything.

    The last answers are kept: a match asks again at every turn, and when a faster machine of the same network
    is ready.
    """
    network = machine.network
    for reference, cached in _cache:
        known = reference()
        if known is not None and network.same_as(known.network):
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
    best = best_goal(network)
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
    """The game, read in this way; None if that is not Sokoban."""
    probe = Probe(machine, encoding, steady)
    alone = probe.followers(keepers_at(guess.squares, np.flatnonzero(encoding.can_stand)))
    model: MoveModel | None
    if len(alone.rows):
        model = probe_steps(probe, guess, alone)
    else:
        model, probe = probe_pushes(probe, guess) or (None, probe)
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
    over = ends_when_solved(claim)
    if over is None:
        return None
    geometry, squares = _geometry(model.neighbours, inside, at_goal)
    return Recognised(geometry, squares, claim, clock, over)


def _walkable(neighbours: Int32s, keeper: int) -> Flags:
    """Where the keeper could walk to without boxes."""
    inside = np.zeros(len(neighbours), np.bool_)
    inside[keeper] = True
    count = 0
    while count != (count := int(inside.sum())):
        inside[neighbours[inside]] = True
        inside[-1] = False
    return inside[:-1]


def _is_a_level(status: Octets, inside: Flags, goals: Flags) -> bool:
    """Whether there are boxes to push, not more than goals, and all that are out of reach are on goals."""
    boxes = status >= BOX
    reachable = int((boxes & inside).sum())
    return 0 < reachable <= int((goals & inside).sum()) and not (boxes & ~inside & ~goals).any()


def _geometry(neighbours: Int32s, inside: Flags, goals: Flags) -> tuple[Geometry, Int32s]:
    """The squares that can be walked to, and which they are."""
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
    """The first of these values of clocks that ends the match in a state that does not end it else."""
    count = 0
    for clock in rows:
        records = probe.records(np.repeat(status[None], len(clock), axis=0), clock)
        over = np.flatnonzero(probe.machine.evaluate(records).terminal)
        if len(over):
            return count + int(over[0])
        count += len(clock)
    return None


_MOST_WAITING = 100_000
"""Moves that a line may have, waiting included."""


def machine_line(game: Recognised, state: State, pushes: Sequence[Push]) -> list[int] | None:
    """The moves that make these pushes from a state on, to the end of the match; None where the match ends
    before, or where the machine does not agree."""
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
    if not game.over:
        if left is None or left > _MOST_WAITING or not isinstance(model, StepModel):
            return None
        _wait(model, states, moves, left)
    return moves if _proven(game, state, np.array(states), moves) else None


def _stepped(model: StepModel, status: Octets, direction: int, moves: list[int]) -> Octets:
    """The statuses after a step, whose move is put down."""
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


def _wait(model: StepModel, states: list[Octets], moves: list[int], length: int) -> None:
    """Do nothing, or walk to and fro, until there are so many moves."""
    while len(moves) < length:
        status = states[-1]
        keeper = int(np.flatnonzero(status == KEEPER)[0])
        idle = np.flatnonzero(model.idle[keeper])
        if len(idle):
            moves.append(int(idle[0]))
            states.append(status)
            continue
        near = model.neighbours[keeper].tolist()
        free = [d for d, to in enumerate(near) if to < len(status) and status[to] == EMPTY]
        if not free:
            return
        states.append(_stepped(model, status, free[0], moves))


def _proven(game: Recognised, state: State, states: Octets, moves: list[int]) -> bool:
    """Whether the machine plays this line from state to state, with the best goal at its end and none
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
    """The first so many rows of the clocks from a state on; they repeat the last one where they end."""
    parts: list[Flags] = []
    for rows in game.clock_rows(state):
        parts.append(rows)
        if sum(map(len, parts)) >= count:
            break
    rows = np.concatenate(parts)
    return rows[np.minimum(np.arange(count), len(rows) - 1)]
