"""When step clocks begin to matter: the first step at which the end or a goal depends otherwise on the rest.

The gates that a clock reaches are built anew with the clock's values at each step put in, hash-consed: equal
literals are equal functions. Different literals may be equal functions too, so the answer is safe, not sharp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import spread
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder, replaced

ENDLESS = 1 << 62
"""The last step of what comes again and again."""
_UNKNOWN = 1 << 40
"""Nodes from here on stand for gates that are not looked at."""


def first_change(network: Network, clocks: NDArray[np.bool_], values: NDArray[np.bool_]) -> int | None:
    """The first step at which the end of the match or a goal reads the clocks otherwise than at step 0: in
    two states of earlier steps that differ in the clocks alone they are the same. None: at no step.

    ``clocks``, shape (bases,), says which base propositions the clocks are; ``values``, shape (steps, bases),
    has their values at each step from 0 on, until they repeat.
    """
    fold = _Fold(network, clocks)
    first = None
    for step, row in enumerate(values):
        outputs = fold.outputs(step, row)
        if first is None:
            first = outputs
        elif outputs != first:
            return step
    return None


@dataclass(frozen=True, slots=True)
class ClockStage:
    """Steps at which the end and the goals are the same functions of all but the clocks.

    Attributes:
        values: bool, shape (bases,): the clocks at one of them.
        last: the last one, counted from 0; :data:`ENDLESS` if there is none.
    """

    values: NDArray[np.bool_]
    last: int


def clock_stages(
    network: Network, clocks: NDArray[np.bool_], values: NDArray[np.bool_], repeat: bool
) -> list[ClockStage] | None:
    """The stages of a game until its clocks end it, or for ever if they ``repeat`` after the last of the
    ``values`` (as in :func:`first_change`); None if they go on in a way that is not known."""
    fold = _Fold(network, clocks)
    stages: dict[tuple[int, ...], ClockStage] = {}
    for step, row in enumerate(values):
        outputs = fold.outputs(step, row)
        stages[tuple(outputs)] = ClockStage(row, step)
        if outputs[-1] == TRUE:
            return list(stages.values())
    return [ClockStage(stage.values, ENDLESS) for stage in stages.values()] if repeat else None


class _Fold:
    """Builds the gates between clocks and the end or a goal, for one step after another."""

    def __init__(self, network: Network, clocks: NDArray[np.bool_]) -> None:
        start, read = network.gate_start.tolist(), network.gate_inputs.astype(np.int64)
        first = network.first_gate
        owner = np.repeat(first + np.arange(network.gates), np.diff(network.gate_start))
        reached = np.zeros(network.nodes, np.bool_)
        reached[1 : 1 + len(clocks)] = clocks
        spread(reached, read >> 1, owner)
        wanted = np.zeros(network.nodes, np.bool_)
        literals = [*network.goals[:, 2].tolist(), int(network.terminal_literal)]
        wanted[np.array(literals) >> 1] = True
        spread(wanted, owner, read >> 1)
        self._outputs = literals
        self._clocks = np.flatnonzero(clocks).tolist()
        inputs: list[int] = read.tolist()
        gates: list[int] = np.flatnonzero((reached & wanted)[first:]).tolist()
        self._gates = [(first + gate, inputs[start[gate] : start[gate + 1]]) for gate in gates]
        self._looped = {
            first + gate
            for low, high in network.loops.tolist()
            for gate in range(low, high)
            if reached[first + gate] and wanted[first + gate]
        }
        self._literals = list(range(0, 2 * network.nodes, 2))
        self._builder = CircuitBuilder(network.nodes)

    def outputs(self, step: int, values: NDArray[np.bool_]) -> list[int]:
        """The literals of the goals and of the end when the clocks, a row of base propositions, are so."""
        literals = self._literals
        for base in self._clocks:
            literals[1 + base] = TRUE if values[base] else FALSE
        for node, inputs in self._gates:
            # What recursion comes to at this step is not looked at: it is like no other step.
            literals[node] = (
                2 * (_UNKNOWN * (step + 1) + node)
                if node in self._looped
                else self._builder.conjunction(replaced(inputs, literals))
            )
        return replaced(self._outputs, literals)
