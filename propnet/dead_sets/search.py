"""The dead sets of a one-player game: all projections onto one variable, then two, three, as effort allows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from propnet.analysis.ternary import Ternary
from propnet.dead_sets.cases import Cases
from propnet.dead_sets.effects import move_effects
from propnet.dead_sets.projections import Projection, Projections
from propnet.dead_sets.variables import state_variables
from propnet.machine import PropnetMachine
from propnet.passes.circuit import FALSE
from propnet.substitute import EffortError

EFFORT = 200_000_000
"""Gate inputs, each for 64 cases (see docs/measurements.md)."""
_COFACTORS = 3_000_000
_BATCH = 64
"""Projections that are analysed together."""
_LARGEST = 100_000
"""Configurations of a projection, at most."""


@dataclass(frozen=True, slots=True)
class DeadSets:
    """What was found.

    Attributes:
        sets: the minimal dead sets, those of few variables first: literals of base propositions, see
            :data:`propnet.guides.dead_ends.Nogood`.
        sizes: how many of them there are of one variable, of two, and so on.
        target: the goal value, or more, that no state with a dead set leads to; -1 where none was found.
        complete: the number of variables up to which all projections worth it were analysed.
        variables: how many variables the game has.
        seconds: CPU time.
    """

    sets: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    target: int
    complete: int
    variables: int
    seconds: float


def dead_sets(machine: PropnetMachine, most: int = 3, effort: int = EFFORT, seed: int = 0) -> DeadSets:
    """The minimal dead sets of up to ``most`` variables. The result depends on the game, ``effort`` and ``seed``
    alone; where the effort does not suffice, some are missing.

    Raises ValueError for a game of several roles.
    """
    network = machine.network
    if len(network.roles) != 1:
        raise ValueError(f"dead sets are for games of one role, and this one has {len(network.roles)}")
    began = time.process_time()
    found = _Search(machine, most, effort, seed)
    try:
        found.run()
    except EffortError:
        pass
    return found.result(time.process_time() - began)


class _Search:
    """A search for dead sets, and what it has found."""

    def __init__(self, machine: PropnetMachine, most: int, effort: int, seed: int) -> None:
        self.machine = machine
        self.most = most
        self.seed = seed
        self.cases = Cases(Ternary(machine.network), effort)
        self.known: dict[tuple[int, ...], Projection] = {}
        self.complete = 0
        self.target = -1
        self.projections: Projections | None = None

    def run(self) -> None:
        """Search. Raises EffortError where the effort does not suffice."""
        network = self.machine.network
        effects = move_effects(network, _COFACTORS)
        variables = state_variables(self.machine, effects, self.cases, self.seed)
        values = sorted({v for _, v, literal in network.goals.tolist() if literal != FALSE}, reverse=True)
        for value in values[:-1]:
            goals = [literal for _, v, literal in network.goals.tolist() if v >= value]
            self.known = {}
            self.target = value
            self.projections = Projections(self.cases, effects, variables, goals)
            if self._all_sizes():
                return
        self.target, self.known = -1, {}

    def _all_sizes(self) -> bool:
        """Analyse projections; returns whether the initial state is in no dead set."""
        projections = self.projections
        assert projections is not None
        near = projections.neighbours()
        for size in range(1, self.most + 1):
            wanted = [t for t in self._tuples(size, near) if self._size(t) <= _LARGEST]
            if not self._all_of(wanted):
                return False
            if size == 2:
                # A goal may relate variables that no move relates.
                rest = set(combinations(range(len(near)), 2)).difference(wanted)
                if not self._all_of(sorted(t for t in rest if self._size(t) <= _LARGEST)):
                    return False
                for a, b in rest:
                    if (a, b) in self.known and self.known[a, b].dead.any():
                        near[a].add(b)
                        near[b].add(a)
            self.complete = size
        return True

    def _all_of(self, wanted: list[tuple[int, ...]]) -> bool:
        """Analyse these projections, unless the initial state turns out to be dead: returns whether not."""
        assert self.projections is not None
        for low in range(0, len(wanted), _BATCH):
            for projection in self.projections.analyse(wanted[low : low + _BATCH], self.known):
                self.known[projection.variables] = projection
                if not projection.open.ravel()[0]:
                    return False
        return True

    def _size(self, numbers: tuple[int, ...]) -> int:
        assert self.projections is not None
        return int(np.prod([len(self.projections.variables[n].values) for n in numbers]))

    def _tuples(self, size: int, near: list[set[int]]) -> list[tuple[int, ...]]:
        """Sets of so many variables that depend on each other, smaller projections first."""
        grown = {(n,) for n in range(len(near))}
        for _ in range(size - 1):
            grown = {tuple(sorted((*t, n))) for t in grown for m in t for n in near[m] if n not in t}
        return sorted(grown, key=lambda t: (self._size(t), t))

    def result(self, seconds: float) -> DeadSets:
        """What was found so far."""
        sets: list[tuple[int, ...]] = []
        sizes = [0] * self.most
        variables = self.projections.variables if self.projections is not None else []
        for numbers, projection in sorted(self.known.items(), key=lambda item: (len(item[0]), item[0])):
            for configuration in np.argwhere(projection.dead).tolist():
                pairs = zip(numbers, configuration, strict=True)
                sets.append(tuple(x for n, v in pairs for x in variables[n].telling[v]))
                sizes[len(numbers) - 1] += 1
        return DeadSets(tuple(sets), tuple(sizes), self.target, self.complete, len(variables), seconds)
