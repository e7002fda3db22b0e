"""Measures the parts of a step on the lanes: gates, choice of moves, the rest.

A kernel plays random moves in 512 lanes, and does the parts of a step once or several times. Repeating a part
does not change the result of the step (another choice is as random as the first). So the difference in time
is the cost of that part alone, on the states of playouts.
"""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from gdl.machine import Machine
from propnet.jit.arrays import Ints, Words
from propnet.jit.decorators import kernel
from propnet.jit.random_numbers import streams
from propnet.jit.vector512 import LANES, WORDS, splat
from propnet.kernels.kernel_args import KernelArgs, sizes_of
from propnet.kernels.scratch import Scratch, new_scratch
from propnet.kernels.step import choose_moves, evaluate_moves, evaluate_play, next_states, terminal_lanes
from propnet.machine import PropnetMachine

_EXTRA = 4
"""Number of additional repetitions of the measured part."""
_ROUNDS = 5


@kernel
def _walk(
    args: KernelArgs,
    scratch: Scratch,
    streams: Words,
    initial: Ints,
    passes: int,
    plays: int,
    choices: int,
    steps: int,
) -> None:
    """Run ``passes`` steps in all lanes. Lanes that end begin again with ``initial`` (bases,; -1 for true)
    when all roles have had a turn, as in playouts. In each step the gates before the choice are evaluated
    ``plays`` times, the gates and the choice ``choices`` times, and everything except the next states
    ``steps`` times."""
    wires = scratch.wires
    depth = scratch.planes.shape[0] // 3
    over = splat(0)
    parked = splat(0)
    roles = sizes_of(args).roles
    choosing = np.zeros((roles, WORDS), np.uint64)
    for number in range(passes):
        # A part may overwrite the wires of another one, so repetitions begin with the beginning of the step.
        for step in range(steps):
            for chosen in range(choices if step == 0 else 1):
                for _ in range(plays if step + chosen == 0 else 1):
                    evaluate_play(args, wires)
                over = terminal_lanes(args, wires)
                over = over | choose_moves(
                    args, wires, scratch.planes, scratch.groups, depth, ~parked, streams, choosing
                )
            evaluate_moves(args, wires)
        parked = parked | over
        renewed = splat(0)
        if number % roles == roles - 1:
            renewed = parked
            parked = splat(0)
        next_states(args, wires, scratch.following, parked, renewed, True, initial)


def can_split(machine: Machine) -> bool:
    """Whether the machine plays with the kernels that this module measures."""
    return isinstance(machine, PropnetMachine)


def split_step(
    machine: PropnetMachine, step_ns: float, mean_length: float, seconds: float
) -> dict[str, float]:
    """The parts of a lane step, in nanoseconds.

    Args:
        machine: a machine with lanes.
        step_ns: the whole step: CPU time of playouts per joint move.
        mean_length: joint moves per playout. A playout takes one pass more (the one that finds the match
            over), which ``logic_ns`` and ``choice_ns`` contain.
        seconds: about how much CPU time to spend.

    Returns:
        ``logic_ns``, ``choice_ns``, ``bookkeeping_ns`` (together ``step_ns``, unless noise makes
        the first two larger) and ``ns_per_gate_input`` (of one pass over 512 lanes).
    """
    walker = _Walker(machine)
    # Long enough that lanes of different lengths are no longer in step.
    walker.seconds(min(1000, int(3 * mean_length) + 1), 1, 1, 1)
    passes = 16
    while walker.seconds(passes, 1, 1, 1) < seconds / (_ROUNDS * (4 + 3 * _EXTRA)) and passes < 1 << 20:
        passes *= 2
    logic: list[float] = []
    choices: list[float] = []
    for _ in range(_ROUNDS):
        once = walker.seconds(passes, 1, 1, 1)
        play = (walker.seconds(passes, 1 + _EXTRA, 1, 1) - once) / _EXTRA
        play_and_choice = (walker.seconds(passes, 1, 1 + _EXTRA, 1) - once) / _EXTRA
        step = (walker.seconds(passes, 1, 1, 1 + _EXTRA) - once) / _EXTRA
        choices.append(play_and_choice - play)
        logic.append(step - choices[-1])
    pass_ns = max(0.0, median(logic)) / passes * 1e9
    share = (mean_length + 1) / mean_length / LANES
    logic_ns = pass_ns * share
    choice_ns = max(0.0, median(choices)) / passes * 1e9 * share
    inputs = machine.plan.step_inputs
    return {
        "logic_ns": logic_ns,
        "choice_ns": choice_ns,
        "bookkeeping_ns": max(0.0, step_ns - logic_ns - choice_ns),
        "ns_per_gate_input": pass_ns / inputs if inputs else 0.0,
    }


class _Walker:
    """The kernel with arrays of its own; at first all lanes are in the initial state."""

    def __init__(self, machine: PropnetMachine) -> None:
        plan = machine.plan
        self._initial = -plan.initial.astype(np.int64)
        self._args = machine.kernel_args
        self._scratch = new_scratch(plan)
        self._wires = self._scratch.wires
        self._wires[1 : 1 + plan.bases][plan.initial] = np.iinfo(np.uint64).max
        self._streams = streams(1)

    def seconds(self, passes: int, plays: int, choices: int, steps: int) -> float:
        """CPU seconds of this number of steps in all lanes."""
        before = time.process_time()
        _walk(self._args, self._scratch, self._streams, self._initial, passes, plays, choices, steps)
        return time.process_time() - before
