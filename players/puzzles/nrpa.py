"""Nested rollout policy adaptation (Rosin 2011), with 512 playouts for each change of a policy at the
lowest level (as in stabilized NRPA: Cazenave, Sevestre and Toulemont 2020).

The kernels play 512 playouts by a softmax policy and adapt the policy.

Gates are evaluated bit-sliced. For each lane, weighted reservoir sampling (Chao 1982) draws one of the legal
moves. One-player games only.

A *policy* is ``weights``, float64 (entries,): e to the power of a move's logit. The *coding* assigns an entry
to a move. It depends on the move alone, or also on the step at which it is made, or on the previous move. If
there are too few entries, moves share them.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from players.solvers import Certainty, LineSolver, Promise, Task
from propnet.jit.arrays import Floats, Goals, Index, Int32s, Words
from propnet.jit.decorators import inner, kernel
from propnet.jit.vector512 import BYTES, LANES, WORDS, any_lane, load, lowest_bit, splat, store
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.records import list_lanes, set_lane
from propnet.kernels.scratch import Scratch
from propnet.kernels.step import (
    evaluate_goals,
    evaluate_moves,
    evaluate_play,
    load_records,
    next_states,
    read_goals,
    terminal_lanes,
)
from propnet.kernels.uniform_choice import legal_wires
from propnet.machine import PropnetMachine

BY_MOVE, BY_STEP, BY_PAIR = range(3)
"""Codings."""

_LEAST, _MOST = 1e-30, 1e30


@inner
def _first_entry(coding: int, moves: Index, step: Index, before: Index, entries: Index) -> Index:
    """Return the entry of move 0; move m has the entry m further on, modulo the number of entries."""
    if coding == BY_STEP:
        return (step * moves) % entries
    if coding == BY_PAIR:
        return (before + 1) * moves % entries
    return np.int64(0)


@kernel
def _policy_playouts(
    args: KernelArgs,
    scratch: Scratch,
    start: Words,
    weights: Floats,
    coding: int,
    random: Words,
    goals: Goals,
    lengths: Int32s,
    trace: Int32s,
) -> int:
    """Play 512 playouts from one record (1, words), each move with a probability in proportion to its weight.

    ``goals`` (512, 1; -1 on entry) and ``lengths`` (512,) receive the result of each playout. ``trace``
    (steps, 512) receives the moves; its length is the most moves of a playout. A playout that reaches this
    limit, or has no legal move, gets length -1. ``random`` (1,) is the state of the random numbers. Returns
    the number of steps made.
    """
    sizes = sizes_of(args)
    moves, wires = sizes.moves, scratch.wires
    lanes = np.zeros((2, WORDS), np.uint64)
    none = np.zeros(0, np.int64)
    lane_of = np.zeros(LANES, np.int64)
    rows = np.arange(LANES).astype(np.int32)
    chosen = np.full(LANES, -1, np.int32)
    total = np.zeros(LANES)
    steps, entries = trace.shape[0], weights.size
    seed = random[0]
    load_records(wires, start, np.int64(0), np.int64(1), sizes.bases)
    active = ~splat(0)
    parked = splat(0)
    step = 0
    while True:
        evaluate_play(args, wires)
        over = terminal_lanes(args, wires) & active
        if any_lane(over):
            for i in range(list_lanes(over, lanes, lane_of)):
                lengths[lane_of[i]] = step
            active = active & ~over
            parked = parked | over
        if step == steps or not any_lane(active):
            break
        first, _ = legal_wires(args, wires, np.int64(0))
        store(lanes, 0, active)
        total[:] = 0.0
        same = _first_entry(coding, moves, step, np.int64(-1), entries)
        for move in range(moves):
            if not any_lane(load(wires, (first + move) * BYTES) & active):
                continue
            shared = (same + move) % entries
            for word in range(WORDS):
                left = wires[first + move, word] & lanes[0, word]
                while left != 0:
                    lane = 64 * word + lowest_bit(left)
                    left &= left - np.uint64(1)
                    entry = shared
                    if coding == BY_PAIR:
                        before = np.int64(trace[step - 1, lane]) if step > 0 else np.int64(-1)
                        entry = (_first_entry(coding, moves, step, before, entries) + move) % entries
                    total[lane] += weights[entry]
                    seed ^= seed << np.uint64(13)
                    seed ^= seed >> np.uint64(7)
                    seed ^= seed << np.uint64(17)
                    drawn = np.float64(seed >> np.uint64(11)) * (1.0 / (1 << 53))
                    if drawn * total[lane] < weights[entry]:
                        chosen[lane] = move
        for move in range(moves):
            store(wires, (first + move) * BYTES, splat(0))
        for i in range(list_lanes(active, lanes, lane_of)):
            lane = lane_of[i]
            if total[lane] > 0:
                trace[step, lane] = chosen[lane]
                set_lane(wires, LANES * (first + chosen[lane]) + lane)
            else:
                lengths[lane] = -1
                lanes[0, lane >> 6] &= ~(np.uint64(1) << np.uint64(lane & 63))
        left_over = load(lanes, 0)
        parked = parked | (active & ~left_over)
        active = left_over
        evaluate_moves(args, wires)
        next_states(args, wires, scratch.following, parked, splat(0), False, none)
        step += 1
    for i in range(list_lanes(active, lanes, lane_of)):
        lengths[lane_of[i]] = -1
    evaluate_goals(args, wires)
    count = list_lanes(parked, lanes, lane_of)
    read_goals(args, wires, lane_of, count, rows, lanes, goals)
    random[0] = seed
    return step


@kernel
def _legal_along(
    args: KernelArgs, scratch: Scratch, start: Words, line: Int32s, firsts: Int32s, options: Int32s
) -> int:
    """Write the legal moves at each step of a line from one record (1, words).

    The moves of step i are written to ``options[firsts[i]:firsts[i + 1]]``; ``firsts`` is (steps + 1,).
    Returns the number of moves written, or -1 if they do not fit into ``options``.
    """
    sizes = sizes_of(args)
    wires = scratch.wires
    none = np.zeros(0, np.int64)
    load_records(wires, start, np.int64(0), np.int64(1), sizes.bases)
    used = 0
    for step in range(line.size):
        evaluate_play(args, wires)
        first, _ = legal_wires(args, wires, np.int64(0))
        firsts[step] = used
        for move in range(sizes.moves):
            if wires[first + move, 0] & np.uint64(1) != 0:
                if used == options.size:
                    return -1
                options[used] = move
                used += 1
            store(wires, (first + move) * BYTES, splat(-np.int64(move == line[step])))
        evaluate_moves(args, wires)
        next_states(args, wires, scratch.following, splat(0), splat(0), False, none)
    firsts[line.size] = used
    return used


@kernel
def _adapt(
    weights: Floats, coding: int, moves: int, line: Int32s, firsts: Int32s, options: Int32s, rate: float
) -> None:
    """Make the moves of a line more likely. The logit of each move made grows by ``rate``; the logits of all
    legal moves fall by ``rate`` times their probabilities. ``options`` comes from :func:`_legal_along`;
    ``moves`` is the number of moves of the game."""
    entries = weights.size
    before = np.int64(-1)
    for step in range(line.size):
        base = _first_entry(coding, moves, step, before, entries)
        total = 0.0
        for i in range(firsts[step], firsts[step + 1]):
            total += weights[(base + options[i]) % entries]
        for i in range(firsts[step], firsts[step + 1]):
            entry = (base + options[i]) % entries
            change = np.exp(rate * (np.float64(options[i] == line[step]) - weights[entry] / total))
            weights[entry] = min(_MOST, max(_LEAST, weights[entry] * change))
        before = np.int64(line[step])


_ROUNDS = 50
"""Policy changes per call of the lowest level."""
_PATIENCE = 5
"""A run ends after this many rounds of a call in which all scores are equal."""
_CALLS = 10
"""Calls of the lowest level in the first run; each further run with the same coding has twice as many."""
_RATE = 1.0
_STEPS = 512
"""The most moves of a playout..."""
_FIRST_STEPS = 16
"""... and the most at first, until their cost is measured."""
_ROUND_SECONDS = 0.03
"""The CPU seconds that a round may take: it cannot be interrupted."""
_ENTRIES = 1 << 18
_OPTIONS = 1 << 18


MEMORY = 3 * 8 * _ENTRIES + 4 * _OPTIONS + 4 * _STEPS * LANES
"""Bytes: weights of three levels, options along a line, traces of playouts."""
_GOAL = 1 << 12
"""A point of the goal counts more than any number of moves."""


class _Line:
    """A line, its score, and the legal moves along it."""

    def __init__(self) -> None:
        self.score = -1
        self.moves = np.zeros(0, np.int32)
        self.firsts = np.zeros(1, np.int32)
        self.options = np.zeros(0, np.int32)


class NestedPolicy(LineSolver):
    """Learns a policy repeatedly from the best line that it finds; a second level learns from the best lines
    of the first. Codings of moves take turns. So do two scores: the goal alone, and the goal and then the
    length. In puzzles that end when no move is left, a longer line has come further.

    If all playouts have the same score, there is nothing to learn: the policy stays, and the run ends if no
    other score is found soon.
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
        """Play rounds while the next one is likely to end before the deadline."""
        while time.monotonic() + self._seconds < deadline:
            began = time.thread_time()
            self._round()
            taken = time.thread_time() - began
            self._seconds = max(taken, 0.9 * self._seconds)
            affordable = int(_ROUND_SECONDS / max(taken, 1e-9) * max(1, self._made))
            self._steps = max(_FIRST_STEPS, min(_STEPS, affordable, 2 * self._steps))
        return False

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
        """Play one round and learn from the best line of the lowest level."""
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
        self._made = _policy_playouts(*game, *policy, goals, lengths, self._trace[: self._steps])
        self.states += int(lengths.clip(0).sum())
        return goals[:, 0], lengths

    def _take(self, line: _Line, score: int, scores: NDArray[np.int32], lengths: NDArray[np.int32]) -> None:
        """Take the shortest playout with this score as the best line."""
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
        used = _legal_along(machine.kernel_args, machine.scratch, self._record, moves, firsts, options)
        if used < 0:
            return
        line.score, line.moves, line.firsts, line.options = score, moves, firsts, options[:used].copy()

    def _learn(self, weights: NDArray[np.float64], line: _Line) -> None:
        _adapt(weights, self._coding, self._moves, line.moves, line.firsts, line.options, _RATE)

    @classmethod
    def warm_up(cls, machine: PropnetMachine) -> None:
        solver = cls(Task(machine, machine.initial_state(), lambda value, moves: None, 0))
        solver._round()
        solver._learn(solver._weights, solver._low)
