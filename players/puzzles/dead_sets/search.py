"""The dead sets of a one-player game: all projections onto one variable, then two, three, as effort
allows.

All in a process that want a game's dead sets share one search: solvers and rollouts ask for the same, and
again when a search begins anew.
"""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import cast

import numpy as np

from players.puzzles.dead_sets.cases import Cases, conditions, move_effects
from players.puzzles.dead_sets.projections import Projection, Projections, parts, spread_in, tighten
from players.puzzles.dead_sets.variables import state_variables
from propnet.analysis.ternary import Ternary
from propnet.machine import PropnetMachine
from propnet.passes.circuit import FALSE
from propnet.substitute import EffortError

EFFORT = 1_000_000_000
"""Gate inputs, each for 64 cases (see docs/measurements.md)."""
LARGEST = 10_000
"""Networks with more gate inputs, or a third as many base propositions, are left alone."""
_COFACTORS = 3_000_000
_BATCH, _TOGETHER = 32, 2_000
"""Projections, and configurations, that are analysed together."""
_AT_ONCE = 300
_ROUNDS = 5
"""Times that projections learn from each other, at most."""
_TIGHTEN = 8_000
"""What that takes for each, in the same unit."""
_LARGEST = 100_000
"""Configurations of a projection, at most."""


@dataclass(frozen=True, slots=True)
class DeadSetReport:
    """What was found.

    Attributes:
        sets: the minimal dead sets, those of few variables first: literals of base propositions, see
            :data:`propnet.nogoods.Nogood`.
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


def dead_sets(machine: PropnetMachine, most: int = 3, effort: int = EFFORT) -> DeadSetReport:
    """The minimal dead sets of up to ``most`` variables.

    What is found depends on the game and ``effort`` alone; where the effort does not suffice, some are
    missing.

    Raises ValueError for a game of several roles.
    """
    course = search_dead_sets(machine, most, effort)
    while True:
        try:
            next(course)
        except StopIteration as end:
            return cast(DeadSetReport, end.value)


def search_dead_sets(
    machine: PropnetMachine, most: int = 3, effort: int = EFFORT, patient: bool = True
) -> Generator[None, None, DeadSetReport]:
    """As :func:`dead_sets`, in steps of some milliseconds: yields after each, and returns the result. The
    machine may be used freely between them. Unless it is ``patient``, there are none of three variables where
    none of two was found."""
    network = machine.network
    if len(network.roles) != 1:
        raise ValueError(f"dead sets are for games of one role, and this one has {len(network.roles)}")
    found = _Search(machine, most, effort, patient)
    seconds, began = 0.0, time.thread_time()
    with suppress(EffortError):
        for _ in found.run():
            seconds += time.thread_time() - began
            yield
            began = time.thread_time()
    for _ in found.name_sets():
        seconds += time.thread_time() - began
        yield
        began = time.thread_time()
    return found.result(seconds + time.thread_time() - began)


class _Search:
    """A search for dead sets, and what it has found."""

    def __init__(self, machine: PropnetMachine, most: int, effort: int, patient: bool) -> None:
        self.machine = machine
        self.most = most
        self.effort = effort
        self.patient = patient
        self.known: dict[tuple[int, ...], Projection] = {}
        self.complete = 0
        self.target = -1
        self.projections: Projections | None = None
        self.sets: list[tuple[int, ...]] = []
        self.sizes = [0] * most

    def run(self) -> Generator[None, None, None]:
        """Search, and yield now and then. Raises EffortError where the effort does not suffice."""
        network = self.machine.network
        if max(len(network.gate_inputs), 3 * len(network.bases)) > LARGEST or not network.move_count:
            raise EffortError("too large a network, or none")
        effects = yield from move_effects(network, _COFACTORS)
        self.cases = Cases(Ternary(network), self.effort)
        yield
        for groups in (True, False):
            some = Cases(self.cases.ternary, self.cases.effort // 4)
            try:
                variables = yield from state_variables(self.machine, effects, some, groups)
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
            if (yield from self._all_sizes()):
                return
        self.target, self.known = -1, {}

    def _all_sizes(self) -> Generator[None, None, bool]:
        """Analyse projections; returns whether the initial state is in no dead set."""
        projections = self.projections
        assert projections is not None
        near = yield from projections.neighbours()
        for size in range(1, self.most + 1):
            yield
            wanted = self._tuples(size, near)
            yield
            alive = yield from self._all_of(wanted)
            if alive and size == 2:
                # A goal may relate variables that no move relates.
                rest = self._related_by_goals().difference(wanted)
                yield
                alive = yield from self._tighten()
                alive = alive and (yield from self._all_of(sorted(rest, key=self._rank)))
                for a, b in rest:
                    if (a, b) in self.known and not self.known[a, b].open.all():
                        near[a].add(b)
                        near[b].add(a)
            if not alive or not (yield from self._tighten()):
                return False
            self.complete = size
            if size == 2 and not self.patient and not self._any_dead():
                break
        return True

    def _any_dead(self) -> bool:
        """Whether a configuration that occurs is known to be dead."""
        return any((projection.occurring & ~projection.open).any() for projection in self.known.values())

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

    def _all_of(self, wanted: Iterable[tuple[int, ...]]) -> Generator[None, None, bool]:
        """Analyse these projections, unless the initial state turns out to be dead: returns whether not."""
        assert self.projections is not None
        able = [numbers for numbers in wanted if self._rank(numbers)[0] <= _LARGEST]
        for some in self._batches(able):
            yield
            for projection in self.projections.analyse(some, self.known):
                before = self.known.get(projection.variables)
                if before is not None:
                    projection = Projection(projection.variables, before.occurring, projection.open)
                self.known[projection.variables] = projection
                if not projection.open.ravel()[0]:
                    return False
        return True

    def _batches(self, wanted: list[tuple[int, ...]]) -> Iterator[list[tuple[int, ...]]]:
        """These projections, a few together."""
        batch: list[tuple[int, ...]] = []
        size = 0
        for numbers in wanted:
            batch.append(numbers)
            size += self._rank(numbers)[0]
            if len(batch) == _BATCH or size > _TOGETHER:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def _tighten(self) -> Generator[None, None, bool]:
        """Let projections tell each other what they know, and analyse again those that have learnt from it;
        returns whether the initial state is in no dead set."""
        for _ in range(_ROUNDS):
            self.cases.spend(len(self.known) * _TIGHTEN)
            changed = yield from tighten(self.known)
            if not all(self.known[numbers].open.ravel()[0] for numbers in changed):
                return False
            yield
            if not changed:
                return True
            if not (yield from self._all_of(sorted(changed, key=self._rank))):
                return False
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

    def name_sets(self) -> Iterator[None]:
        """Turn what was found so far into literals; yields now and then."""
        variables = self.projections.variables if self.projections is not None else []
        ordered = sorted(self.known, key=lambda numbers: (len(numbers), numbers))
        for done, numbers in enumerate(ordered):
            if done % _AT_ONCE == 0:
                yield
            projection = self.known[numbers]
            dead = projection.occurring & ~projection.open
            if not dead.any():
                continue
            for part in parts(numbers, self.known):
                dead &= spread_in(part, numbers)
            for configuration in np.argwhere(dead).tolist():
                pairs = zip(numbers, configuration, strict=True)
                self.sets.append(tuple(x for n, v in pairs for x in variables[n].telling[v]))
                self.sizes[len(numbers) - 1] += 1

    def result(self, seconds: float) -> DeadSetReport:
        """What was found so far, and named."""
        variables = len(self.projections.variables) if self.projections is not None else 0
        target = self.target if self.known else -1
        return DeadSetReport(tuple(self.sets), tuple(self.sizes), target, self.complete, variables, seconds)


SHARED_EFFORT = 200_000_000
"""In gate inputs for 64 cases (see docs/measurements.md)."""
_KEPT = 4
"""Games whose search is kept."""


class SharedSearch:
    """A search for dead sets that goes on while somebody gives it time.

    Attributes:
        report: what was found; None while it goes on.
    """

    def __init__(self, machine: PropnetMachine) -> None:
        self.report: DeadSetReport | None = None
        self._course = search_dead_sets(machine, effort=SHARED_EFFORT, patient=False)

    def work(self, seconds: float, deadline: float) -> bool:
        """Search for about so many CPU seconds, or to about the deadline (time.monotonic()): one step at
        least. Returns whether it is over."""
        end = time.thread_time() + seconds
        while self.report is None:
            try:
                next(self._course)
            except StopIteration as over:
                self.report = over.value
            if time.thread_time() >= end or time.monotonic() >= deadline:
                break
        return self.report is not None


_searches: OrderedDict[bytes, SharedSearch] = OrderedDict()


def shared_search(machine: PropnetMachine) -> SharedSearch:
    """The search for this game: the one of an earlier caller, if its network is the same. Raises ValueError
    for a game of several roles."""
    network = machine.network
    names = network.roles, network.bases, network.moves, network.terminal_literal
    digest = hashlib.sha256(repr(names).encode())
    for array in (
        network.gate_start,
        network.gate_inputs,
        network.loops,
        network.loop_init,
        network.next_literals,
        network.legal_literals,
        network.goals,
        network.initial,
    ):
        digest.update(array.tobytes())
    key = digest.digest()
    if key not in _searches:
        _searches[key] = SharedSearch(machine)
    _searches.move_to_end(key)
    if len(_searches) > _KEPT:
        _searches.popitem(last=False)
    return _searches[key]
