"""The dead sets of a one-player game: all projections onto one variable, then two, three, as effort
allows."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from propnet.analysis.ternary import Ternary
from propnet.dead_sets.cases import Cases
from propnet.dead_sets.consistency import parts, spread_in, tighten
from propnet.dead_sets.effects import conditions, move_effects
from propnet.dead_sets.projections import Projection, Projections
from propnet.dead_sets.variables import state_variables
from propnet.machine import PropnetMachine
from propnet.passes.circuit import FALSE
from propnet.substitute import EffortError

EFFORT = 1_000_000_000
"""Gate inputs, each for 64 cases (see docs/measurements.md)."""
LARGEST = 20_000
"""Networks with more gate inputs are left alone."""
_COFACTORS = 3_000_000
_BATCH = 64
"""Projections that are analysed together."""
_ROUNDS = 5
"""Times that projections learn from each other, at most."""
_TIGHTEN = 8_000
"""What that takes for each, in the same unit."""
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
    """The minimal dead sets of up to ``most`` variables. The result depends on the game, ``effort`` and
    ``seed`` alone; where the effort does not suffice, some are missing.

    Raises ValueError for a game of several roles.
    """
    network = machine.network
    if len(network.roles) != 1:
        raise ValueError(f"dead sets are for games of one role, and this one has {len(network.roles)}")
    began = time.process_time()
    found = _Search(machine, most, effort, seed)
    with suppress(EffortError):
        found.run()
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
        if len(network.gate_inputs) > LARGEST:
            raise EffortError("too large a network")
        for groups in (True, False):
            some = Cases(self.cases.ternary, self.cases.effort // 4)
            try:
                variables = state_variables(self.machine, effects, some, self.seed, groups)
                break
            except EffortError:
                if not groups:
                    raise
            finally:
                self.cases.spend(self.cases.effort // 4 - max(0, some.effort))
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
            wanted = self._tuples(size, near)
            alive = self._all_of(wanted)
            if alive and size == 2:
                # A goal may relate variables that no move relates.
                rest = self._related_by_goals().difference(wanted)
                alive = self._tighten() and self._all_of(sorted(rest, key=self._rank))
                for a, b in rest:
                    if (a, b) in self.known and not self.known[a, b].open.all():
                        near[a].add(b)
                        near[b].add(a)
            if not alive or not self._tighten():
                return False
            self.complete = size
        return True

    def _related_by_goals(self) -> set[tuple[int, ...]]:
        """Pairs of variables that some condition of the goal depends on together."""
        assert self.projections is not None
        network = self.machine.network
        goals = [literal for _, value, literal in network.goals.tolist() if value >= self.target]
        masks = [variable.mask for variable in self.projections.variables]
        related: set[tuple[int, ...]] = set()
        for condition in conditions(network, goals, _COFACTORS):
            self.cases.spend(len(masks) * 100)
            mine = [number for number, mask in enumerate(masks) if mask & condition]
            self.cases.spend(len(mine) ** 2 * 10)
            related.update(combinations(mine, 2))
        return related

    def _all_of(self, wanted: Iterable[tuple[int, ...]]) -> bool:
        """Analyse these projections, unless the initial state turns out to be dead: returns whether not."""
        assert self.projections is not None
        able = [numbers for numbers in wanted if self._rank(numbers)[0] <= _LARGEST]
        for low in range(0, len(able), _BATCH):
            for projection in self.projections.analyse(able[low : low + _BATCH], self.known):
                before = self.known.get(projection.variables)
                if before is not None:
                    projection = Projection(projection.variables, before.occurring, projection.open)
                self.known[projection.variables] = projection
                if not projection.open.ravel()[0]:
                    return False
        return True

    def _tighten(self) -> bool:
        """Let projections tell each other what they know, and analyse again those that have learnt from it;
        returns whether the initial state is in no dead set."""
        for _ in range(_ROUNDS):
            self.cases.spend(len(self.known) * _TIGHTEN)
            changed = tighten(self.known)
            if not all(self.known[numbers].open.ravel()[0] for numbers in changed):
                return False
            if not changed or not self._all_of(sorted(changed, key=self._rank)):
                return not changed
        return True

    def _rank(self, numbers: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Small projections first: how many configurations one has, and then its variables."""
        assert self.projections is not None
        return int(np.prod([len(self.projections.variables[n].values) for n in numbers])), numbers

    def _tuples(self, size: int, near: list[set[int]]) -> list[tuple[int, ...]]:
        """Sets of so many variables that depend on each other, small projections first."""
        grown: set[tuple[int, ...]] = {(n,) for n in range(len(near))}
        for _ in range(size - 1):
            self.cases.spend(len(grown) * _TIGHTEN)
            grown = {tuple(sorted((*t, n))) for t in grown for m in t for n in near[m] if n not in t}
        return sorted(grown, key=self._rank)

    def result(self, seconds: float) -> DeadSets:
        """What was found so far."""
        sets: list[tuple[int, ...]] = []
        sizes = [0] * self.most
        variables = self.projections.variables if self.projections is not None else []
        for numbers in sorted(self.known, key=lambda numbers: (len(numbers), numbers)):
            projection = self.known[numbers]
            dead = projection.occurring & ~projection.open
            for part in parts(numbers, self.known):
                dead &= spread_in(part, numbers)
            for configuration in np.argwhere(dead).tolist():
                pairs = zip(numbers, configuration, strict=True)
                sets.append(tuple(x for n, v in pairs for x in variables[n].telling[v]))
                sizes[len(numbers) - 1] += 1
        return DeadSets(tuple(sets), tuple(sizes), self.target, self.complete, len(variables), seconds)
