"""Nested rollout policy adaptation (Rosin 2011), with 512 playouts for each change of a policy at the
lowest level (as in stabilized NRPA: Cazenave, Sevestre and Toulemont 2020)."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from players.puzzles.nrpa_kernels import BY_MOVE, BY_PAIR, BY_STEP, adapt, legal_along, policy_playouts
from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.jit.vector512 import LANES
from propnet.machine import PropnetMachine

_ROUNDS = 50
"""Changes of a policy per call of the lowest level."""
_PATIENCE = 5
"""Rounds of a call without two scores after which the run is over."""
_CALLS = 10
"""Calls of the lowest level in the first run; each further run with the same coding has twice as many."""
_RATE = 1.0
_STEPS = 512
"""Moves that a playout may make..."""
_FIRST_STEPS = 16
"""... and as many at first, until it is known what they cost."""
_ROUND_SECONDS = 0.03
"""CPU seconds that a round may take: it cannot be interrupted."""
_ENTRIES = 1 << 18
_OPTIONS = 1 << 18


MEMORY = 3 * 8 * _ENTRIES + 4 * _OPTIONS + 4 * _STEPS * LANES
"""Bytes: weights of three levels, options along a line, traces of playouts."""
_GOAL = 1 << 12
"""A point of the goal counts more than any number of moves."""


class _Line:
    """A line, how good it is, and the legal moves along it."""

    def __init__(self) -> None:
        self.score = -1
        self.moves = np.zeros(0, np.int32)
        self.firsts = np.zeros(1, np.int32)
        self.options = np.zeros(0, np.int32)


class NestedPolicy(LineSolver):
    """Learns a policy from the best line found with it, again and again; a second level learns from
    the best lines of the first. Codings of moves take turns, and so do two scores: the goal alone, and
    the goal and then the length. In puzzles that end where no move is left a longer line has come further.

    Where all playouts have the same score there is nothing to learn from: the policy stays, and a run
    that finds no other score soon is over.
    """

    name = "nested-policy"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        machine = task.machine
        self._record = machine.records([task.start]).copy()
        self._random = np.array([(task.seed * 0x9E3779B97F4A7C15 + 0x1234567) % (1 << 64) | 1], np.uint64)
        self._moves = machine.network.move_count
        self._trace = np.zeros((_STEPS, LANES), np.int32)
        self._best = -1
        self._length = 0
        self._seconds = 0.0
        self._steps = _FIRST_STEPS
        self._made = 0
        self._runs = 0
        self._begin_run()

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        return Promise(Certainty.MAY_FIND, memory=MEMORY)

    def step(self, deadline: float) -> bool:
        """Rounds, as long as the next one is likely to be over in time."""
        while time.monotonic() + self._seconds < deadline:
            began = time.thread_time()
            self._round()
            taken = time.thread_time() - began
            self._seconds = max(taken, 0.9 * self._seconds)
            affordable = int(_ROUND_SECONDS / max(taken, 1e-9) * max(1, self._made))
            self._steps = max(_FIRST_STEPS, min(_STEPS, affordable, 2 * self._steps))
        return True

    def _begin_run(self) -> None:
        codings = BY_MOVE, BY_STEP, BY_PAIR
        self._lasting = self._runs % 2 == 1
        self._coding = codings[self._runs // 2 % len(codings)]
        self._calls = _CALLS << min(10, self._runs // (2 * len(codings)))
        self._runs += 1
        contexts = {BY_MOVE: 1, BY_STEP: _STEPS, BY_PAIR: self._moves + 1}[self._coding]
        self._outer = np.ones(min(_ENTRIES, max(1, contexts * self._moves)))
        self._top = _Line()
        self._begin_call()

    def _begin_call(self) -> None:
        self._weights = self._outer.copy()
        self._low = _Line()
        self._rounds = 0
        self._learnt = False

    def _round(self) -> None:
        """Playouts, and a step of learning from the best line of the lowest level."""
        goals, lengths = self._play()
        finished = lengths >= 0
        self._rounds += 1
        if finished.any():
            scores = np.maximum(goals, 0).astype(np.int32) * _GOAL
            if self._lasting:
                scores += lengths
            scores[~finished] = -1
            best = int(scores.max())
            if best >= self._low.score:
                self._take(self._low, best, scores, lengths)
            if scores[finished].min() < self._low.score:
                self._learn(self._weights, self._low)
                self._learnt = True
        if self._rounds == _PATIENCE and not self._learnt and self._steps == _STEPS:
            self._begin_run()
            return
        if self._rounds < _ROUNDS:
            return
        if self._low.score >= self._top.score:
            self._top = self._low
        if self._top.score > 0:
            self._learn(self._outer, self._top)
        self._calls -= 1
        if self._calls > 0:
            self._begin_call()
        else:
            self._begin_run()

    def _play(self) -> tuple[NDArray[np.int16], NDArray[np.int32]]:
        game = self.machine.kernel_args, self.machine.scratch, self._record
        policy = self._weights, self._coding, self._random
        goals = np.full((LANES, 1), -1, np.int16)
        lengths = np.zeros(LANES, np.int32)
        self._made = policy_playouts(*game, *policy, goals, lengths, self._trace[: self._steps])
        self.states += int(lengths.clip(0).sum())
        return goals[:, 0], lengths

    def _take(self, line: _Line, score: int, scores: NDArray[np.int32], lengths: NDArray[np.int32]) -> None:
        """Take the shortest playout of this score for the best line."""
        candidates = np.flatnonzero(scores == score)
        chosen = int(candidates[np.argmin(lengths[candidates])])
        moves = self._trace[: lengths[chosen], chosen].copy()
        value = score // _GOAL
        if value > self._best or (value == self._best and len(moves) < self._length):
            self._best, self._length = value, len(moves)
            self.report(value, moves.tolist())
        firsts = np.zeros(len(moves) + 1, np.int32)
        options = np.empty(_OPTIONS, np.int32)
        machine = self.machine
        used = legal_along(machine.kernel_args, machine.scratch, self._record, moves, firsts, options)
        if used < 0:
            return
        line.score, line.moves, line.firsts, line.options = score, moves, firsts, options[:used].copy()

    def _learn(self, weights: NDArray[np.float64], line: _Line) -> None:
        adapt(weights, self._coding, self._moves, line.moves, line.firsts, line.options, _RATE)

    @classmethod
    def warm_up(cls, machine: PropnetMachine) -> None:
        solver = cls(Task(machine, machine.initial_state(), lambda value, moves: None, 0))
        solver._round()
        solver._learn(solver._weights, solver._low)
