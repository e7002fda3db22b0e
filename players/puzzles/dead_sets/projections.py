"""Retrograde analysis of projections: which values of a few variables together can no longer lead to the
goal (dead-end pattern databases: F. Pommerening and J. Seipp, 2016; pattern databases: J. Culberson and J.
Schaeffer, 1998).

A projection knows the values of its variables alone. A move is possible in it if it may be legal whatever
the rest is, and leads to all values that it may lead to. So a path of the game is a path of the projection,
and what does not lead to the goal here does not lead to it in the game. A *configuration* is a value of
each variable of a projection; it is numbered in mixed radix, the last variable's value first.

Projections tell each other what they know: a configuration that leads to the goal has a part that does so in
every smaller projection, and a continuation that does so in every larger one (k-consistency: E. Freuder,
Synthesizing constraint expressions, 1978).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np
from numpy.typing import NDArray

from gdl.grounding.graph import spread
from players.puzzles.dead_sets.cases import Cases, Int64s
from players.puzzles.dead_sets.variables import Effects, StateVariable

Bits = NDArray[np.bool_]

_CONFIGURATION = 400
"""What handling a configuration or a transition takes, in gate inputs for 64 cases."""
_RELATION = 3_000
"""What handling a move of a projection takes, alike."""


@dataclass(frozen=True, slots=True)
class MoveRelation:
    """What a move does with some variables: rows of values before, and after it, int64 (rows, variables)."""

    before: Int64s
    after: Int64s


@dataclass(frozen=True, slots=True)
class Projection:
    """Some variables, by their numbers, ascending, and their configurations, an axis for each variable.

    Attributes:
        occurring: configurations that occur, as far as this and smaller projections tell.
        open: those of them that may lead to the goal.
    """

    variables: tuple[int, ...]
    occurring: Bits
    open: Bits


class Projections:
    """Analyses projections of a game.

    Args:
        cases: simulates the game's network; its effort is shared by all analyses.
        goals: literals of the goals one of which is wanted at the end.
    """

    def __init__(
        self, cases: Cases, effects: Effects, variables: Sequence[StateVariable], goals: Sequence[int]
    ) -> None:
        self.variables = variables
        self._cases = cases
        self._effects = effects
        self._goals = np.array(goals, np.int64)
        self._masks = [variable.mask for variable in variables]
        self._relations: dict[tuple[tuple[int, ...], int], MoveRelation] = {}
        self._allowed: dict[tuple[int, int], list[int]] = {}
        self.related = self._related()

    def _related(self) -> list[list[int]]:
        """Per variable the moves that touch it, ascending."""
        return [sorted(variable.changes) for variable in self.variables]

    def concerns(self, move: int, number: int) -> bool:
        """Whether a move reads or touches a variable."""
        effect = self._effects[move]
        return move in self.variables[number].changes or bool(effect and effect.reads & self._masks[number])

    def neighbours(self) -> Generator[None, None, list[set[int]]]:
        """Yields now and then; returns per variable those that some move which touches it, or them, reads
        or touches as well."""
        found: list[set[int]] = [set() for _ in self.variables]
        for move, effect in enumerate(self._effects):
            if effect is None:
                continue
            if move % 20 == 0:
                yield
            touched = [n for n, variable in enumerate(self.variables) if move in variable.changes]
            concerned = [n for n, mask in enumerate(self._masks) if n in touched or effect.reads & mask]
            self._cases.spend(len(self._masks) * 100)
            for one in touched:
                found[one].update(concerned)
                for other in concerned:
                    found[other].add(one)
        for number, others in enumerate(found):
            others.discard(number)
        return found

    def analyse(
        self, wanted: Sequence[tuple[int, ...]], known: dict[tuple[int, ...], Projection]
    ) -> list[Projection]:
        """Analyse projections; what is ``known``, of them or of smaller ones, is made use of.

        Raises EffortError if the cases do not suffice.
        """
        shapes = [tuple(len(self.variables[n].values) for n in numbers) for numbers in wanted]
        sizes = [int(np.prod(shape)) for shape in shapes]
        self._cases.spend(sum(sizes) * _CONFIGURATION)
        firsts = np.concatenate(([0], np.cumsum(sizes)))
        able = np.concatenate(
            [self._able(numbers, shape, known).ravel() for numbers, shape in zip(wanted, shapes, strict=True)]
        )
        places = np.flatnonzero(able)
        wins, over = np.zeros_like(able), np.zeros_like(able)
        wins[places], over[places] = self._ends(wanted, shapes, firsts, places)
        source, target = self._transitions(wanted, shapes, firsts)
        inside = able[source] & ~over[source] & able[target]
        source, target = source[inside], target[inside]
        occurring = np.zeros(len(able), np.bool_)
        occurring[firsts[:-1]] = able[firsts[:-1]]  # value 0 is initial
        spread(occurring, source, target)
        leading = wins & occurring
        spread(leading, target, source)
        leading &= occurring
        bounds = pairwise(firsts.tolist())
        return [
            Projection(numbers, occurring[a:b].reshape(shape), leading[a:b].reshape(shape))
            for numbers, shape, (a, b) in zip(wanted, shapes, bounds, strict=True)
        ]

    def _able(
        self, numbers: tuple[int, ...], shape: tuple[int, ...], known: dict[tuple[int, ...], Projection]
    ) -> Bits:
        """The configurations of which neither they nor a part is known not to occur, or to be dead."""
        able = np.ones(shape, np.bool_)
        for size in range(1, len(numbers) + 1):
            for some in combinations(numbers, size):
                if some in known:
                    axes = tuple(place for place, n in enumerate(numbers) if n not in some)
                    able &= np.expand_dims(known[some].open, axes)
        return able

    def _transitions(
        self, wanted: Sequence[tuple[int, ...]], shapes: Sequence[tuple[int, ...]], firsts: Int64s
    ) -> tuple[Int64s, Int64s]:
        """The transitions of all projections together: configurations before and after, numbered on."""
        parts = [
            [
                (tuple(n for n in numbers if self.concerns(move, n)), move)
                for move in sorted(set().union(*(self.related[n] for n in numbers)))
            ]
            for numbers in wanted
        ]
        self._cases.spend(_RELATION * sum(map(len, parts)))
        self._relate(dict.fromkeys(key for keys in parts for key in keys))
        sources, targets = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for numbers, shape, first, keys in zip(wanted, shapes, firsts[:-1].tolist(), parts, strict=True):
            strides = np.cumprod((1, *shape[:0:-1]))[::-1]
            for concerned, move in keys:
                relation = self._relations[concerned, move]
                if not len(relation.before):
                    continue
                places = [numbers.index(n) for n in concerned]
                before, after = relation.before @ strides[places], relation.after @ strides[places]
                for place, n in enumerate(numbers):
                    if place not in places:
                        idle = np.array(self._allowing(n, move), np.int64) * strides[place]
                        before = (before[:, None] + idle).ravel()
                        after = (after[:, None] + idle).ravel()
                sources.append(first + before)
                targets.append(first + after)
                self._cases.spend(_CONFIGURATION * len(before) // 64)
        return np.concatenate(sources), np.concatenate(targets)

    def _allowing(self, number: int, move: int) -> list[int]:
        """The values of a variable that do not contradict what is true wherever a move is made."""
        found = self._allowed.get((number, move))
        if found is None:
            variable, effect = self.variables[number], self._effects[move]
            if move in variable.changes:
                found = list(variable.changes[move])
            else:
                denied = {x ^ 1 for x in effect.forced} if effect else set()
                found = [
                    v for v, literals in enumerate(variable.literals) if denied.isdisjoint(literals.tolist())
                ]
            self._allowed[number, move] = found
        return found

    def _relate(self, wanted: dict[tuple[tuple[int, ...], int], None]) -> None:
        """Work out the relations of moves and of the variables that they concern, unless they are known."""
        missing = [key for key in wanted if key not in self._relations]
        owners: list[int] = []
        values: list[tuple[int, ...]] = []
        literals: list[Int64s] = []
        for place, (numbers, move) in enumerate(missing):
            effect = self._effects[move]
            assert effect is not None
            forced = np.array(effect.forced, np.int64)
            some = list(product(*(self._allowing(n, move) for n in numbers)))
            self._cases.spend(_CONFIGURATION * len(some))
            for configuration in some:
                owners.append(place)
                values.append(configuration)
                known = [self.variables[n].literals[v] for n, v in zip(numbers, configuration, strict=True)]
                literals.append(np.concatenate((*known, forced)))
        rows: list[list[tuple[tuple[int, ...], tuple[int, ...]]]] = [[] for _ in missing]
        moves = np.array([missing[owner][1] for owner in owners], np.int64)
        for part, simulated in self._cases.run(literals, moves):
            at = range(part.start, part.stop)
            asked: list[tuple[int, int, int, int]] = []
            possible = simulated.possible.tolist()
            flat: list[Int64s] = []
            for case, i in enumerate(at):
                if not possible[case]:
                    continue
                numbers, move = missing[owners[i]]
                for axis, (n, v) in enumerate(zip(numbers, values[i], strict=True)):
                    following = self.variables[n].changes.get(move, {}).get(v)
                    for w in following or ():
                        asked.append((case, axis, w, len(flat)))
                        flat.append(self.variables[n].literals[w])
            after: dict[tuple[int, int], list[int]] = {}
            if asked:
                widths = np.array(list(map(len, flat)))
                cases = np.repeat(np.array([a[0] for a in asked]), widths)
                holds = simulated.may_follow(np.concatenate(flat), cases)
                fits = np.logical_and.reduceat(holds, np.cumsum(widths) - widths).tolist()
                for case, axis, w, number in asked:
                    if fits[number]:
                        after.setdefault((case, axis), []).append(w)
            for case, i in enumerate(at):
                if not possible[case]:
                    continue
                numbers, move = missing[owners[i]]
                options = [
                    after.get((case, axis), []) if move in self.variables[n].changes else [v]
                    for axis, (n, v) in enumerate(zip(numbers, values[i], strict=True))
                ]
                rows[owners[i]] += [(values[i], follow) for follow in product(*options)]
        for (numbers, move), found in zip(missing, rows, strict=True):
            pairs = np.array(found, np.int64).reshape(-1, 2, len(numbers))
            self._relations[numbers, move] = MoveRelation(pairs[:, 0], pairs[:, 1])

    def _ends(
        self,
        wanted: Sequence[tuple[int, ...]],
        shapes: Sequence[tuple[int, ...]],
        firsts: Int64s,
        places: Int64s,
    ) -> tuple[Bits, Bits]:
        """Whether configurations, numbered on through all projections, may be ends with a wanted goal, and
        whether they are ends in any case."""
        owners = np.searchsorted(firsts, places, side="right") - 1
        literals = []
        for owner, place in zip(owners.tolist(), places.tolist(), strict=True):
            configuration = np.unravel_index(place - int(firsts[owner]), shapes[owner])
            numbers = wanted[owner]
            literals.append(
                np.concatenate(
                    [self.variables[n].literals[int(v)] for n, v in zip(numbers, configuration, strict=True)]
                )
            )
        wins, over = np.zeros(len(places), np.bool_), np.zeros(len(places), np.bool_)
        terminal = int(self._cases.ternary.network.terminal_literal)
        for part, simulated in self._cases.run(literals):
            cases = np.arange(part.stop - part.start)
            goal = np.zeros(len(cases), np.bool_)
            for literal in self._goals:
                goal |= simulated.may(np.full(len(cases), literal), cases)
            wins[part] = goal & simulated.possible & simulated.may(np.full(len(cases), terminal), cases)
            over[part] = ~simulated.may(np.full(len(cases), terminal ^ 1), cases)
        return wins, over


_AT_ONCE = 300

Known = dict[tuple[int, ...], Projection]


def spread_in(smaller: Projection, numbers: tuple[int, ...]) -> Bits:
    """What is open in a smaller projection, with the axes of a larger one; those that it lacks have length
    1."""
    axes = tuple(place for place, n in enumerate(numbers) if n not in smaller.variables)
    return np.expand_dims(smaller.open, axes)


def parts(numbers: tuple[int, ...], known: Known) -> list[Projection]:
    """The known projections onto some of these variables, but not all."""
    sizes = range(1, len(numbers))
    return [known[some] for size in sizes for some in combinations(numbers, size) if some in known]


def tighten(known: Known) -> Generator[None, None, set[tuple[int, ...]]]:
    """Yields now and then. Closes configurations (in place) that do not fit others, until nothing changes.
    Returns the projections in which some were closed."""
    above: defaultdict[tuple[int, ...], list[tuple[int, ...]]] = defaultdict(list)
    below: dict[tuple[int, ...], list[Projection]] = {}
    for done, numbers in enumerate(known):
        if done % _AT_ONCE == 0:
            yield
        below[numbers] = parts(numbers, known)
    for done, (numbers, smaller) in enumerate(below.items()):
        if done % _AT_ONCE == 0:
            yield
        for part in smaller:
            above[part.variables].append(numbers)
    waiting = dict.fromkeys(sorted((numbers for numbers in known if below[numbers]), key=len))
    changed: set[tuple[int, ...]] = set()
    done = 0
    while waiting:
        done += 1
        if done % _AT_ONCE == 0:
            yield
        numbers = next(iter(waiting))
        del waiting[numbers]
        projection = known[numbers]
        before = np.count_nonzero(projection.open)
        for part in below[numbers]:
            projection.open[...] &= spread_in(part, numbers)
        if np.count_nonzero(projection.open) < before:
            changed.add(numbers)
            waiting.update(dict.fromkeys(above[numbers]))
        for part in below[numbers]:
            axes = tuple(place for place, n in enumerate(numbers) if n not in part.variables)
            kept = part.open & projection.open.any(axis=axes)
            if (kept != part.open).any():
                part.open[...] = kept
                changed.add(part.variables)
                waiting.update(dict.fromkeys(above[part.variables]))
                if below[part.variables]:
                    waiting[part.variables] = None
    return changed
