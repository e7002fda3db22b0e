"""`LatchGame`: a game whose state is a function of the set of moves made, whatever their order.

Every base proposition is proven, on the network, to be of one of three kinds. Moves make a *latch* true for
ever, or false for ever. The value of a *clock* depends only on the number of moves. An *ending* is true only
in terminal states. Kautz and Selman's planning as satisfiability needs no steps of time for such a game.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.ternary import CASES_PER_WORD, Ternary, unpack_cases
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE
from propnet.substitute import EffortError, cofactors

Flags = NDArray[np.bool_]

_LONGEST = 400
"""The most moves of a game for which clocks are simulated."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The values of a game's clocks from one state on.

    Attributes:
        bases: int64: the clock propositions.
        values: bool, shape (steps, bases): their values after 0, 1... moves; one step if there are none.
        ends: whether every state with the last values is terminal.
        settled: whether the last values stay for ever. If neither holds, longer lines were not examined.
        times: bool, shape (steps, moves): the moves that may be legal after each number of moves.
    """

    bases: NDArray[np.int64]
    values: Flags
    ends: bool
    settled: bool
    times: Flags

    @property
    def complete(self) -> bool:
        """Whether all lengths of lines are known."""
        return self.ends or self.settled


def followed(ternary: Ternary, start: Flags, candidates: Flags) -> Clocks:
    """Return the clocks among some propositions, given as bool (bases,), from a state on. Propositions that
    turn out to depend on more are left out."""
    bases = np.flatnonzero(candidates)
    while True:
        values, ends, settled, others = _run(ternary, start, bases)
        if not others.any():
            break
        bases = bases[~others]
    may = ternary.state(_rows(ternary, bases, values))
    legal = unpack_cases(may[ternary.network.legal_literals], len(values))
    open_ = unpack_cases(may[[ternary.network.terminal_literal ^ 1]], len(values))
    return Clocks(bases, values, ends, settled, np.asarray(legal & open_))


def possible_ends(ternary: Ternary, clocks: Clocks) -> list[tuple[int, int | None]]:
    """Return the goal values and lengths of lines that the clocks allow, the highest value first; length None
    stands for all lengths with settled clocks."""
    network, steps = ternary.network, len(clocks.values)
    may = ternary.state(_rows(ternary, clocks.bases, clocks.values))
    goals = [(value, literal) for _, value, literal in network.goals.tolist()]
    terminal = network.terminal_literal
    rows = may[[terminal, terminal ^ 1, *(literal for _, literal in goals)]]
    ends = unpack_cases(rows, steps)
    found: set[tuple[int, int | None]] = set()
    for place, (value, _) in enumerate(goals):
        if clocks.settled and ends[-1, 0] and ends[-1, 2 + place]:
            found.add((value, None))
        for step in range(1, steps):
            if ends[step, 0] and ends[step, 2 + place] and ends[step - 1, 1]:
                found.add((value, step))
    return sorted(found, key=lambda end: (-end[0], end[1] or steps))


def _rows(ternary: Ternary, clock: NDArray[np.int64], values: Flags) -> NDArray[np.uint64]:
    """Return rows for states, one case each, in which only the clocks are known."""
    rows = ternary.unknown(-(-len(values) // CASES_PER_WORD))
    for step, holds in enumerate(values):
        rows[2 * clock + holds, step // CASES_PER_WORD] &= ~bits(np.array([step]))
    return rows


def _run(ternary: Ternary, start: Flags, clock: NDArray[np.int64]) -> tuple[Flags, bool, bool, Flags]:
    """Return the values of the clocks after 0, 1... moves, whether all states with the last values are
    terminal, whether these values stay, and which of the propositions are not clocks."""
    values = [start[clock]]
    none = np.zeros(len(clock), np.bool_)
    if not len(clock):
        return np.array(values), False, True, none
    rows = ternary.unknown(1)
    one = np.uint64(1)
    for _ in range(_LONGEST):
        state = rows.copy()
        state[2 * clock] = np.where(values[-1], ~np.uint64(0), np.uint64(0))[:, None]
        state[2 * clock + 1] = ~state[2 * clock]
        after = ternary.step(state)
        if not after.may[ternary.network.terminal_literal ^ 1, 0] & one:
            return np.array(values), True, False, none
        true = after.following[2 * clock, 0] & one > 0
        false = after.following[2 * clock + 1, 0] & one > 0
        if (true & false).any():
            return np.array(values), False, False, true & false
        if (true == values[-1]).all():
            return np.array(values), False, True, none
        values.append(true)
    return np.array(values), False, False, none


def bits(case: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the bit of each case in its word."""
    found: NDArray[np.uint64] = np.uint64(1) << (case % CASES_PER_WORD).astype(np.uint64)
    return found


_EFFORT = 60_000
"""The most gate inputs that cofactors may cost."""
_MOST_MOVES = 3_000
_LARGEST = 250_000
"""The most gate inputs of a network that is examined."""


@dataclass(frozen=True, slots=True)
class _Effects:
    """The effect of each move on each base proposition, in any state.

    Attributes:
        adds, deletes: bool, shape (moves, bases): the move makes the proposition true, or false.
        clock: bool, shape (bases,): the proposition does not depend on the move.
    """

    adds: Flags
    deletes: Flags
    clock: Flags


@dataclass(frozen=True, slots=True)
class LatchGame:
    """The facts proven about a game, for lines from one state.

    Attributes:
        network: the game.
        start: bool, shape (bases,): the state.
        adds, deletes: bool, shape (moves, bases), without clocks; no base is in both on lines from this
            state.
        endings: bool, shape (bases,): true only in terminal states.
        clocks: the base propositions that depend only on the number of moves.
        blocks: bool, shape (moves, moves): after move m, move k is never legal again: [m, k].
        dead: bool, shape (moves,): never legal.
    """

    network: Network
    start: Flags
    adds: Flags
    deletes: Flags
    endings: Flags
    clocks: Clocks
    blocks: Flags
    dead: Flags

    @property
    def conflicts(self) -> Flags:
        """The pairs of moves that no line contains: bool, shape (moves, moves); the diagonal marks moves that
        no line makes twice."""
        both: Flags = self.blocks & self.blocks.T
        return both


def effects(network: Network) -> _Effects | None:
    """Return the effects of the moves; None if they depend on the state. Takes milliseconds."""
    moves, bases = network.move_count, len(network.bases)
    if len(network.moves) != 1 or not 0 < moves <= _MOST_MOVES or len(network.gate_inputs) + bases > _LARGEST:
        return None
    if len(network.loops):
        return None
    try:
        found, _ = cofactors(network, 0, _EFFORT)
    except EffortError:
        return None
    own = 2 * (1 + np.arange(bases))
    after = np.tile(np.array(found.usual, np.int64), (moves, 1))
    for move, changed in enumerate(found.changed):
        after[move, list(changed)] = list(changed.values())
    adds, deletes = after == TRUE, after == FALSE
    same = np.asarray((after == after[0]).all(axis=0) & (after[0] != own))
    plain = (adds | deletes | (after == own)).all(axis=0)
    if not (plain | same).all():
        return None
    # A proposition that every move sets is also a clock, unless it is a constant that no move ever changes.
    clock = same & (after[0] != TRUE) & ((after[0] != FALSE) | network.initial)
    return _Effects(adds & ~clock, deletes & ~clock, clock)


def latch_game_of(network: Network) -> LatchGame | None:
    """Return the facts proven about lines from the initial state; None if the order of moves matters. Takes
    milliseconds."""
    found = effects(network)
    return None if found is None else latch_game(Ternary(network), np.asarray(network.initial), found)


def latch_game(ternary: Ternary, start: Flags, found: _Effects) -> LatchGame | None:
    """Return the facts proven about lines from a state, given as bool (bases,); None if the order of moves
    matters."""
    network = ternary.network
    adds, deletes = found.adds.copy(), found.deletes.copy()
    constant = ternary.unknown(1)
    endings = _endings(ternary, adds.any(axis=0) & deletes.any(axis=0) & ~start)
    blocks, dead = _blocks(ternary, start, adds, deletes, endings, found.clock, constant)
    # A proposition that some moves add and others delete is a latch if no line has both.
    exclusive = blocks & blocks.T
    for base in np.flatnonzero(adds.any(axis=0) & deletes.any(axis=0) & ~endings):
        adders, deleters = np.flatnonzero(adds[:, base]), np.flatnonzero(deletes[:, base])
        if not exclusive[np.ix_(adders, deleters)].all():
            return None
        # No line has both an adder and a deleter: drop the effect that never changes the start.
        (adds if start[base] else deletes)[:, base] = False
    clocks = followed(ternary, start, found.clock)
    if len(clocks.bases) < found.clock.sum():
        return None
    blocks, dead = _blocks(ternary, start, adds, deletes, endings, found.clock, constant)
    ending = np.flatnonzero(adds[:, endings].any(axis=1))
    blocks[ending] = True
    if not clocks.settled:
        times = clocks.times
        first, last = times.argmax(axis=0), len(times) - 1 - times[::-1].argmax(axis=0)
        blocks |= last[None, :] <= first[:, None]
        dead |= ~times.any(axis=0)
    return LatchGame(network, start, adds, deletes, endings, clocks, blocks, dead)


def _endings(ternary: Ternary, candidates: Flags) -> Flags:
    """Return the candidates that are true only in terminal states."""
    found = np.zeros_like(candidates)
    places = np.flatnonzero(candidates)
    if not len(places):
        return found
    words = -(-len(places) // CASES_PER_WORD)
    rows = ternary.unknown(words)
    case = np.arange(len(places))
    rows[2 * places + 1, case // CASES_PER_WORD] &= ~bits(case)
    may = ternary.state(rows)
    open_ = unpack_cases(may[[ternary.network.terminal_literal ^ 1]], len(places))[:, 0]
    found[places[~open_]] = True
    return found


def _blocks(
    ternary: Ternary,
    start: Flags,
    adds: Flags,
    deletes: Flags,
    endings: Flags,
    clock: Flags,
    constant: NDArray[np.uint64],
) -> tuple[Flags, Flags]:
    """Return which moves are never legal after each move, and which are never legal at all."""
    network = ternary.network
    moves = network.move_count
    words = -(-(moves + 1) // CASES_PER_WORD)  # one case for each move, and one without a move
    rows = np.tile(constant, (1, words))
    up, down = ~deletes.any(axis=0) & ~clock, ~adds.any(axis=0) & ~clock
    rows[2 * np.flatnonzero(up & start) + 1] = 0
    rows[2 * np.flatnonzero(down & ~start)] = 0
    rows[2 * np.flatnonzero(endings)] = 0  # in states with any legal move
    move, base = np.nonzero(adds & up)
    np.bitwise_and.at(rows, (2 * base + 1, move // CASES_PER_WORD), ~bits(move))
    move, base = np.nonzero(deletes & down)
    np.bitwise_and.at(rows, (2 * base, move // CASES_PER_WORD), ~bits(move))
    may = ternary.state(rows)
    legal = unpack_cases(may[network.legal_literals], moves + 1)
    over = ~unpack_cases(may[[network.terminal_literal ^ 1]], moves + 1)[:, 0]
    blocks = ~legal[:moves] | over[:moves, None]
    return blocks, np.asarray(~legal[moves] | over[moves])
