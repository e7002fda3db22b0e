"""What ternary simulation proves: latches (base propositions that, once true or once false, stay so), the
goals that can still be reached, and the phases of a game.

What may change opens, step after step, until nothing more does: the least fixpoint above the state (R. Bryant
and C. Seger, 1995). Where that takes too long, only what is latched is taken to stay.

Clocks (:mod:`propnet.analysis.cones`) run the same way whatever is played. In each of their states ternary
simulation, which knows nothing else, tells which roles may have a choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from propnet.analysis.ternary import CASES_PER_WORD, Ternary, constant_bases, unpack_cases

LATCH_EFFORT = 10_000_000
"""Gate inputs, each for 512 propositions (see docs/measurements.md)."""

_WORDS = 8


@dataclass(frozen=True, slots=True)
class Latches:
    """Which base propositions never change back, each bool, shape (bases,): those once ``true``, or once
    ``false``, are so for ever; ``constant`` ones never change at all and are in neither of the others."""

    true: NDArray[np.bool_]
    false: NDArray[np.bool_]
    constant: NDArray[np.bool_]


def latches(ternary: Ternary) -> Latches:
    """The latches that one step shows: with one base proposition known and nothing else, it is the same
    after every joint legal move. Some are missed where this would take more than :data:`LATCH_EFFORT` gate
    inputs."""
    effort = LATCH_EFFORT
    network = ternary.network
    bases = len(network.bases)
    constant = constant_bases(network)
    holds = np.zeros((2, bases), np.bool_)
    open_ = np.flatnonzero(~constant)
    cases = _WORDS * CASES_PER_WORD
    for value in (0, 1):
        for start in range(0, len(open_), cases):
            effort -= len(network.gate_inputs)
            if effort < 0:
                break
            propositions = open_[start : start + cases]
            case = np.arange(len(propositions))
            word, bit = case // CASES_PER_WORD, np.uint64(1) << (case % CASES_PER_WORD).astype(np.uint64)
            rows = ternary.unknown(_WORDS)
            # Where it is false it may not be true (row 2b), and the other way round.
            rows[2 * propositions + value, word] &= ~bit
            after = ternary.step(rows).following
            holds[value, propositions] = after[2 * propositions + value, word] & bit == 0
    return Latches(holds[1], holds[0], constant)


ROUNDS = 24
"""Steps after which what still changes is taken to be open."""
MOST_ROUNDS = 2 * ROUNDS


def reachable(
    ternary: Ternary,
    latched: Latches,
    clocks: NDArray[np.bool_],
    states: NDArray[np.bool_],
    rounds: int = MOST_ROUNDS,
) -> NDArray[np.bool_]:
    """Whether each goal may hold in a state, or in one that follows sooner or later, shape (n, goals): False
    where the goal (a row of ``network.goals``) never holds again.

    Args:
        ternary, latched: the network's simulation, and its latches.
        clocks: shape (bases,): propositions taken to be open at once, which only saves time.
        states: shape (n, bases), any n.
        rounds: steps to try; 0 for latches alone.
    """
    start = ternary.known(states)
    may = start.copy()
    may[np.repeat(clocks & ~latched.constant, 2)] = ~np.uint64(0)
    for done in range(rounds):
        more = may | ternary.step(may).following
        changed = more != may
        if not changed.any():
            break
        may = more
        if done >= ROUNDS:
            rows = changed.any(axis=1).reshape(-1, 2).any(axis=1)
            may[np.repeat(rows, 2)] = ~np.uint64(0)
    else:
        free = ternary.unknown(start.shape[1])
        free[2 * np.flatnonzero(latched.false)] = 0
        free[2 * np.flatnonzero(latched.true) + 1] = 0
        may = start | free
    return unpack_cases(ternary.state(may)[ternary.network.goals[:, 2]], len(states))


def decided(network_goals: NDArray[np.int32], may: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether no role has more than one goal value left, shape (n,), by what :func:`reachable` returned."""
    single = np.ones(len(may), np.bool_)
    for role in np.unique(network_goals[:, 0]):
        mine = network_goals[:, 0] == role
        values = np.unique(network_goals[mine, 1])
        left = [may[:, mine & (network_goals[:, 1] == value)].any(axis=1) for value in values]
        single &= np.sum(left, axis=0) <= 1
    return single


EFFORT = 20_000_000
"""Gate inputs that may be looked at (see docs/measurements.md)."""


@dataclass(frozen=True, slots=True)
class Phases:
    """What clocks tell: whether a role may have more than one legal move, shape (phases, roles); which clocks
    ever change, shape (bases,); after how many joint moves the match is over whatever is played, None
    if no clock ends it; the clocks' values, shape (phases, clocks); and the phase that follows the last one,
    None if the match is over then."""

    choosing: NDArray[np.bool_]
    ticking: NDArray[np.bool_]
    end: int | None
    states: NDArray[np.bool_]
    again: int | None

    @property
    def alternating(self) -> bool:
        """Whether two roles never have a choice at the same time."""
        return bool((self.choosing.sum(axis=1) < 2).all())


def phases(ternary: Ternary, clocks: NDArray[np.bool_], effort: int = EFFORT) -> Phases | None:
    """Follow the clocks until they repeat a state, or the match is over; None if the effort is too small."""
    network, cost = ternary.network, max(1, len(ternary.network.gate_inputs))
    places = np.flatnonzero(clocks)
    values = np.asarray(network.initial, np.bool_)[places]
    choosing: list[list[bool]] = []
    states: list[NDArray[np.bool_]] = []
    seen: dict[bytes, int] = {}
    end: int | None = None
    ticking = np.zeros_like(clocks)
    while values.tobytes() not in seen:
        seen[values.tobytes()] = len(states)
        effort -= cost
        if effort < 0:
            return None
        rows = ternary.unknown(1)
        rows[2 * places] = np.where(values, ~np.uint64(0), np.uint64(0))[:, None]
        rows[2 * places + 1] = ~rows[2 * places]
        step = ternary.step(rows)
        if not step.may[network.terminal_literal ^ 1, 0]:
            end = len(choosing)
            break
        states.append(values)
        legal = step.may[network.legal_literals, 0] != 0
        choosing.append([bool(np.count_nonzero(legal[a:b]) > 1) for a, b in pairwise(ternary.role_offsets)])
        following = unpack_cases(step.following[2 * places], 1)[0]
        ticking[places[following != values]] = True
        values = following
    return Phases(
        choosing=np.array(choosing, np.bool_).reshape(-1, len(network.roles)),
        ticking=ticking,
        end=end,
        states=np.array(states, np.bool_).reshape(len(states), len(places)),
        again=seen[values.tobytes()] if end is None else None,
    )
