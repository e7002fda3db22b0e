"""Random playouts that record every fault rules may show: 512 at once on a machine with lanes."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gdl.machine import JointMove, Machine, State
from gdl.terms import Term
from players.move_lists import unpack_moves
from propnet.capabilities import lane_machine

if TYPE_CHECKING:
    from propnet.machine import PropnetMachine

MOST_STEPS = 10_000
"""A playout is cut after this many joint moves."""


@dataclass(frozen=True, slots=True)
class Trail:
    """A state, and the joint moves (ids) that lead to it from the initial one."""

    moves: tuple[JointMove, ...]
    state: State


@dataclass(slots=True)
class Walks:
    """Observations from random playouts.

    Attributes:
        machine: the machine that they ran on.
        ended: playouts that came to a terminal state; stuck ones have not.
        cut: playouts that were cut, for time or after :data:`MOST_STEPS`.
        stopped: playouts that could not go on because a role was stuck.
        longest: joint moves of the longest playout.
        stuck: role -> a shortest trail to a state that is not terminal, where it has no legal move.
        without_goal: role -> a shortest trail to a terminal state in which no goal value holds for it.
        several_goals: role -> a shortest trail to a terminal state in which more than one holds.
        best: per role its highest goal at an end; -1 where it had none.
        worst: the same for the lowest goal; 101 before any end.
        propositions: base proposition -> a function that returns the trail to where it was first true.
        moves: (role, move id) -> the same for where it was first legal, not counting terminal states.
    """

    machine: Machine
    ended: int = 0
    cut: int = 0
    stopped: int = 0
    longest: int = 0
    stuck: dict[int, Trail] = field(default_factory=dict)
    without_goal: dict[int, Trail] = field(default_factory=dict)
    several_goals: dict[int, Trail] = field(default_factory=dict)
    best: list[int] = field(default_factory=list)
    worst: list[int] = field(default_factory=list)
    propositions: dict[int, Callable[[], Trail]] = field(default_factory=dict)
    moves: dict[tuple[int, int], Callable[[], Trail]] = field(default_factory=dict)

    @property
    def playouts(self) -> int:
        """The number of playouts, whatever their end."""
        return self.ended + self.cut + self.stopped


def walk(machine: Machine, playouts: int, seconds: float, seed: int = 0) -> Walks:
    """Run ``playouts`` random playouts from the initial state, for at most ``seconds`` of wall time.

    On lanes all playouts run in parallel, and those unfinished when time is over count as cut. On other
    machines they run one after the other, and those not begun are left out.
    """
    lanes = lane_machine(machine)
    if lanes is not None:
        # One run before the clock starts, because kernels may have to be compiled.
        _LaneWalk(lanes, 1, seed).run(time.monotonic(), 1)
        return _LaneWalk(lanes, playouts, seed).run(time.monotonic() + seconds)
    return _walk_singly(machine, playouts, time.monotonic() + seconds, seed)


def _keep_shortest(known: dict[int, Trail], role: int, length: int, make: Callable[[], Trail]) -> None:
    if role not in known or length < len(known[role].moves):
        known[role] = make()


class _LaneWalk:
    """Playouts in parallel. It saves the joint moves of each step, so that any trail can be rebuilt."""

    def __init__(self, machine: PropnetMachine, playouts: int, seed: int) -> None:
        self.machine = machine
        self.walks = Walks(machine, best=[-1] * len(machine.roles), worst=[101] * len(machine.roles))
        self._rng = np.random.default_rng(seed)
        self._records = np.repeat(machine.records([machine.initial_state()]), playouts, axis=0)
        self._rows: NDArray[np.int64] = np.arange(playouts)
        self._played: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []
        self._seen = np.zeros(machine.words, np.uint64)
        self._seen_legal = np.zeros(machine.move_words, np.uint64)

    def run(self, until: float, at_least: int = 0) -> Walks:
        """Play until all playouts or the time are over, but at least ``at_least`` steps."""
        walks = self.walks
        while len(self._rows):
            step = len(self._played)
            self._look(step)
            if not len(self._rows):
                break
            if step >= MOST_STEPS or (step >= at_least and time.monotonic() > until):
                walks.cut = len(self._rows)
                break
            self._played.append((self._rows, self._joint))
            self._records = self.machine.successors(self._records, self._joint)
        walks.longest = len(self._played)
        return walks

    def _look(self, step: int) -> None:
        """Note what holds in the states reached; leave playouts that are over; choose moves for others."""
        machine, walks = self.machine, self.walks
        answer = machine.evaluate(self._records)
        self._note_new(self._records, self._seen, self._note_proposition)
        over = answer.terminal
        if over.any():
            walks.ended += int(over.sum())
            goals = answer.goals[over]
            single = machine.evaluate(self._records[over], single=True).goals
            walks.best = np.maximum(walks.best, goals.max(axis=0)).tolist()
            walks.worst = np.minimum(walks.worst, goals.min(axis=0)).tolist()
            self._note_roles(walks.without_goal, goals < 0, np.flatnonzero(over))
            self._note_roles(walks.several_goals, (goals >= 0) & (single < 0), np.flatnonzero(over))
            self._keep(~over)
        legal = answer.legal[~over]
        self._note_new(legal, self._seen_legal, self._note_move)
        counts, moves = unpack_moves(legal, machine.role_moves)
        stuck = counts == 0
        if stuck.any():
            self._note_roles(walks.stuck, stuck, np.arange(len(stuck)))
            walks.stopped += int(stuck.any(axis=1).sum())
            self._keep(~stuck.any(axis=1))
        starts = (np.cumsum(counts.ravel()) - counts.ravel()).reshape(counts.shape)
        chosen = starts + (self._rng.random(counts.shape) * counts).astype(np.int64)
        self._joint = moves[chosen[~stuck.any(axis=1)]]

    def _keep(self, wanted: NDArray[np.bool_]) -> None:
        self._records, self._rows = self._records[wanted], self._rows[wanted]

    def _note_roles(
        self, known: dict[int, Trail], faulty: NDArray[np.bool_], places: NDArray[np.int64]
    ) -> None:
        """Note a trail for each role that a column of ``faulty`` finds at fault in some row."""
        for role in np.flatnonzero(faulty.any(axis=0)).tolist():
            place = int(places[np.flatnonzero(faulty[:, role])[0]])
            _keep_shortest(known, role, len(self._played), self._trail(place))

    def _note_new(
        self, words: NDArray[np.uint64], seen: NDArray[np.uint64], note: Callable[[int, int], None]
    ) -> None:
        """Call ``note`` with each bit that no row had before, and a row that has it."""
        if not len(words):
            return
        for word in np.flatnonzero(np.bitwise_or.reduce(words, axis=0) & ~seen).tolist():
            fresh = int(np.bitwise_or.reduce(words[:, word]) & ~seen[word])
            seen[word] |= np.uint64(fresh)
            while fresh:
                bit = fresh & -fresh
                fresh ^= bit
                row = int(np.flatnonzero(words[:, word] & np.uint64(bit))[0])
                note(word * 64 + bit.bit_length() - 1, row)

    def _note_proposition(self, index: int, place: int) -> None:
        self.walks.propositions[index] = self._trail(place)

    def _note_move(self, index: int, place: int) -> None:
        role = int(np.searchsorted(self.machine.role_moves, index, "right")) - 1
        self.walks.moves[role, index - int(self.machine.role_moves[role])] = self._trail(place)

    def _trail(self, place: int) -> Callable[[], Trail]:
        """Tells how the playout that now stands at ``place`` came here."""
        row, steps = int(self._rows[place]), len(self._played)
        return lambda: self._tell(row, steps)

    def _tell(self, row: int, steps: int) -> Trail:
        moves: list[JointMove] = []
        state = self.machine.initial_state()
        for rows, joints in self._played[:steps]:
            joint = joints[int(np.searchsorted(rows, row))].tolist()
            moves.append(tuple(joint))
            state = self.machine.next_state(state, joint)
        return Trail(tuple(moves), state)


def _walk_singly(machine: Machine, playouts: int, until: float, seed: int) -> Walks:
    """Playouts one after the other, on any machine."""
    rng = random.Random(seed)
    roles = range(len(machine.roles))
    walks = Walks(machine, best=[-1] * len(machine.roles), worst=[101] * len(machine.roles))
    seen: set[Term] = set()
    while walks.playouts < playouts and (time.monotonic() < until or not walks.playouts):
        state = machine.initial_state()
        played: list[JointMove] = []
        while True:
            here = partial(Trail, tuple(played), state)
            for proposition in state.propositions - seen:
                seen.add(proposition)
                walks.propositions[machine.proposition_id(proposition)] = here
            if machine.is_terminal(state):
                walks.ended += 1
                for role in roles:
                    result = machine.result(state, role)
                    if result is None:
                        _keep_shortest(walks.without_goal, role, len(played), here)
                        continue
                    walks.best[role] = max(walks.best[role], result)
                    walks.worst[role] = min(walks.worst[role], result)
                    if machine.goal(state, role) is None:
                        _keep_shortest(walks.several_goals, role, len(played), here)
                break
            options = [machine.legal_moves(state, role) for role in roles]
            for role, moves in enumerate(options):
                for move in moves:
                    walks.moves.setdefault((role, move), here)
            if not all(options):
                walks.stopped += 1
                for role in roles:
                    if not options[role]:
                        _keep_shortest(walks.stuck, role, len(played), here)
                break
            if len(played) >= MOST_STEPS or time.monotonic() > until:
                walks.cut += 1
                break
            joint = tuple([rng.choice(moves) for moves in options])
            state = machine.next_state(state, joint)
            played.append(joint)
        walks.longest = max(walks.longest, len(played))
    return walks
