"""State variables of many values, from groups of base propositions of which exactly one is true at a time
(M. Helmert: Concise finite-domain representations for PDDL planning tasks, 2009).

Random play suggests the groups. Nothing is believed of them: from the initial state on, every assignment of
a group that a move may lead to is followed (existential abstraction: E. Clarke, O. Grumberg and D. Long,
1994), and the assignments that this finds are the variable's values, few if the group was well chosen.
Where it depends on other propositions which assignment follows, these are taken to be true, then false, one
by one.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from players.puzzles.dead_sets.cases import Cases, Int64s, MoveEffect, Simulated
from propnet.analysis.cones import clocks
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine

_LANES, _STEPS = 256, 128
_ROUNDS = 3
"""Times that groups are shown to hold with the help of others."""
_STEP_COST = 1600
"""What following an assignment by a move takes beside its simulation, in gate inputs for 64 cases."""
_SAMPLE = 4096
"""States of random play in which groups are looked for."""
_LEAVES = 128
"""Cases that a move in an assignment is divided into, at most."""
_SPLITS, _SPLIT_COST = 2_000, 40_000
"""Times that cases are divided for a group before it is dropped, and what each takes, in the same unit."""
_WIDEST = 1_000
"""Where more propositions change, groups are not looked for by covers."""
_ARGUMENTS = 6
"""Arguments of a proposition that are looked at, at most."""
_SPARE = 4
"""A group with so many assignments more than twice its propositions is dropped."""

Bits = NDArray[np.bool_]
Effects = Sequence[MoveEffect | None]


@dataclass(frozen=True, slots=True)
class StateVariable:
    """Base propositions whose values are looked at together.

    Attributes:
        members: the base propositions, ascending.
        values: the assignments that may occur: which members are true; the initial one is value 0.
        literals: per value the literals of all members that hold then.
        telling: per value the fewest of these that no other value has all of.
        changes: move -> value -> the values that may follow, where the move touches a member; a value
            that is missing does not allow for the move.
    """

    members: tuple[int, ...]
    values: tuple[tuple[int, ...], ...]
    literals: tuple[Int64s, ...]
    telling: tuple[tuple[int, ...], ...]
    changes: dict[int, dict[int, tuple[int, ...]]]

    @property
    def mask(self) -> int:
        """The members, a bit each."""
        return sum(1 << base for base in self.members)


def state_variables(
    machine: PropnetMachine, effects: Effects, cases: Cases, grouped: bool = True
) -> Generator[None, None, list[StateVariable]]:
    """Yields now and then; returns variables that cover what changed in random play and is
    touched by moves; a proposition that is in no group, or each if they are not to be ``grouped``, is a
    variable of its own. Variables that always keep their initial value are left out. Raises EffortError if
    the cases do not suffice."""
    network = machine.network
    sample = yield from _sample(machine)
    touched = set().union(*(effect.touched for effect in effects if effect))
    # Clocks alone are no variables: late, they make everything dead.
    clock = clocks(network)
    changing = [base for base in sorted(touched) if sample[:, base].any() and not sample[:, base].all()]
    initial = np.asarray(network.initial, np.bool_)
    groupable = changing if grouped else []
    exact = _alike(sample, groupable, network.bases)
    yield
    covered = set().union(*exact)
    exact += yield from _covers(sample, [base for base in groupable if base not in covered], clock)
    yield
    exact = [group for group in exact if not clock[list(group)].all()]
    covered = covered.union(*exact, np.flatnonzero(clock).tolist())
    loose = _alike(sample, [base for base in groupable if base not in covered], network.bases, exact=False)
    groups = dict.fromkeys(exact, 1) | dict.fromkeys(loose, 0)
    closed: list[StateVariable] = []
    for trusted in (True,) * _ROUNDS + (False,):
        # What holds of all groups before a move is used to show what holds of each after it (simultaneous
        # induction); where that fails for some, all is done again without these.
        closed = yield from _close(groups, effects, cases, initial, groups if trusted else {})
        holding = {
            variable.members: min(map(len, variable.values))
            for variable in closed
            if max(map(len, variable.values)) <= 1
        }
        if not trusted or all(holding.get(group, -1) >= least for group, least in groups.items()):
            break
        groups = holding
    single = {base for base in changing if not clock[base]}.difference(*(v.members for v in closed))
    closed += yield from _close([(base,) for base in sorted(single)], effects, cases, initial, {})
    return [variable for variable in closed if len(variable.values) > 1]


def _sample(machine: PropnetMachine) -> Generator[None, None, Bits]:
    """Yields now and then; returns some of the states of random play, shape (n, bases)."""
    rng = np.random.default_rng(0)
    first = np.repeat(machine.records([machine.initial_state()]), _LANES, axis=0)
    records, seen = first, []
    for _ in range(_STEPS):
        yield
        seen.append(records)
        outputs = machine.evaluate(records)
        legal = unpack(outputs.legal, machine.network.move_count)
        moves = np.where(legal, rng.random(legal.shape, np.float32), -1).argmax(axis=1)
        over = outputs.terminal | ~legal.any(axis=1)
        after = machine.successors(records, moves[:, None].astype(np.int32))
        records = np.where(over[:, None], first, after)
    states = np.unique(np.concatenate(seen), axis=0)
    if len(states) > _SAMPLE:
        states = states[rng.choice(len(states), _SAMPLE, replace=False)]
    return unpack(states, len(machine.network.bases))


def _alike(
    sample: Bits, changing: list[int], terms: Sequence[Term], exact: bool = True
) -> list[tuple[int, ...]]:
    """Groups of propositions that differ in one argument, or in some, of which exactly one, or else at most
    one, is true in each state of the sample (counted variables: Helmert 2009). Names mean nothing here,
    only which are equal."""
    alike: dict[tuple[object, ...], list[int]] = {}
    for base in changing:
        term = terms[base]
        arity = len(term.args)
        places_of = range(min(arity, _ARGUMENTS))
        counted = [*((place,) for place in places_of), *combinations(places_of, 2), tuple(places_of)]
        for places in dict.fromkeys(counted):
            rest = tuple(None if place in places else arg for place, arg in enumerate(term.args))
            alike.setdefault((term.name, places, rest), []).append(base)
    groups = {tuple(group): None for group in alike.values() if len(group) > 1}
    counts = {group: sample[:, group].sum(axis=1) for group in groups}
    return [group for group, true in counts.items() if true.max() <= 1 and (not exact or true.min() == 1)]


def _covers(sample: Bits, changing: list[int], clock: Bits) -> Generator[None, None, list[tuple[int, ...]]]:
    """Yields now and then; returns groups of propositions of which exactly one is true in each state of the
    sample: greedy exact covers, with clocks only where nothing else fits."""
    if len(changing) > _WIDEST:
        return []
    bits = sample[:, changing]
    numbers = bits.astype(np.float32)
    apart = numbers.T @ numbers == 0
    liking = np.where(clock[changing], 1e-6, 1.0)
    covered: set[int] = set()
    groups: dict[tuple[int, ...], None] = {}
    for start in range(len(changing)):
        if start in covered or clock[changing[start]]:
            continue
        yield
        group, open_, able = [start], ~bits[:, start], apart[start].copy()
        while open_.any() and able.any():
            gain = open_.astype(np.float32) @ numbers
            gain[~able] = 0
            gain *= liking
            best = int(np.argmax(gain))
            if not gain[best]:
                break
            group.append(best)
            open_ &= ~bits[:, best]
            able &= apart[best]
        if not open_.any() and len(group) > 1:
            covered.update(group)
            groups[tuple(sorted(changing[place] for place in group))] = None
    return list(groups)


@dataclass
class _Closure:
    """A variable in the making."""

    members: tuple[int, ...]
    ids: dict[tuple[int, ...], int] = field(default_factory=dict)
    changes: dict[int, dict[int, set[int]]] = field(default_factory=dict)
    splits: int = 0
    failed: bool = False

    def literals(self, value: tuple[int, ...]) -> Int64s:
        return np.array([2 * (1 + base) + (base not in value) for base in self.members], np.int64)


@dataclass(frozen=True, slots=True)
class _Step:
    """A move in a value of a variable; ``taken``, literals of other propositions, are taken to be true."""

    closure: _Closure
    value: tuple[int, ...]
    move: int
    taken: tuple[int, ...] = ()
    leaves: int = 1


def _close(
    groups: Iterable[tuple[int, ...]],
    effects: Effects,
    cases: Cases,
    initial: Bits,
    trusted: dict[tuple[int, ...], int],
) -> Generator[None, None, list[StateVariable]]:
    """Yields now and then; returns the variables of these groups, less those that have too many values. Of
    a ``trusted`` group it is taken for granted that at most one proposition, and at least so many, are true
    before a move."""
    closures = [_Closure(members) for members in groups]
    touching = [_touching(closure.members, effects) for closure in closures]
    moves_of = {id(closure): moves for closure, moves in zip(closures, touching, strict=True)}
    waiting: list[_Step] = []

    def found(closure: _Closure, value: tuple[int, ...]) -> int:
        """The number of a value; what is new waits to be followed."""
        number = closure.ids.get(value)
        if number is None:
            number = closure.ids[value] = len(closure.ids)
            waiting.extend(_Step(closure, value, move) for move in moves_of[id(closure)])
            closure.failed |= number > 2 * len(closure.members) + _SPARE
        return number

    for closure in closures:
        found(closure, tuple(base for base in closure.members if initial[base]))
    while waiting:
        steps = [step for step in waiting if not step.closure.failed]
        waiting.clear()
        cases.spend(_STEP_COST * len(steps))
        known = [_known(step, effects) for step in steps]
        for part, simulated in cases.run(known, np.array([step.move for step in steps], np.int64)):
            yield
            some = steps[part]
            for case, (step, must, open_) in enumerate(_after(some, effects, simulated)):
                if not simulated.possible[case]:
                    continue
                if len(open_) > 1:
                    base = simulated.open_base(2 * (1 + open_[0]), case, cases.ternary)
                    step.closure.splits += 1
                    step.closure.failed |= step.closure.splits > _SPLITS
                    cases.spend(_SPLIT_COST)
                    parts = _splits(base, effects[step.move], trusted) if base >= 0 else []
                    leaves = step.leaves * len(parts)
                    if parts and leaves <= _LEAVES:
                        waiting.extend(replace(step, taken=(*step.taken, *x), leaves=leaves) for x in parts)
                        continue
                    if len(open_) > 2:
                        step.closure.failed = True
                        continue
                number = step.closure.ids[step.value]
                reached = step.closure.changes.setdefault(step.move, {}).setdefault(number, set())
                for choice in product((False, True), repeat=len(open_)):
                    also = {base for base, true in zip(open_, choice, strict=True) if true}
                    reached.add(found(step.closure, tuple(sorted({*must, *also}))))
    return [_finished(closure, moves_of[id(closure)]) for closure in closures if not closure.failed]


def _splits(
    base: int, effect: MoveEffect | None, trusted: dict[tuple[int, ...], int]
) -> list[tuple[int, ...]]:
    """What may be taken to be true, one after the other, so that a proposition is known: the propositions of
    the trusted group that the move reads most of, or else the proposition and its negation."""
    reads = effect.reads if effect else 0
    able = [group for group in trusted if base in group and len(group) < _LEAVES]
    if not able:
        return [(2 * (1 + base),), (2 * (1 + base) + 1,)]
    group = max(able, key=lambda group: sum(reads >> other & 1 for other in group))
    ones = [(other,) for other in group]
    return [
        tuple(2 * (1 + other) + (other not in true) for other in group)
        for true in (ones if trusted[group] else [*ones, ()])
    ]


def _touching(members: tuple[int, ...], effects: Effects) -> list[int]:
    """The moves that touch one of these."""
    return [move for move, effect in enumerate(effects) if effect and not effect.touched.isdisjoint(members)]


def _known(step: _Step, effects: Effects) -> Int64s:
    """The literals that are known where a move is made."""
    effect = effects[step.move]
    assert effect is not None
    others = np.array([*effect.forced, *step.taken], np.int64)
    return np.concatenate((step.closure.literals(step.value), others))


def _after(
    steps: Sequence[_Step], effects: Effects, simulated: Simulated
) -> Iterable[tuple[_Step, list[int], list[int]]]:
    """Per step which members must be true after it, and which may be either."""
    wanted: list[tuple[int, int]] = []
    for case, step in enumerate(steps):
        effect = effects[step.move]
        assert effect is not None
        wanted += [(base, case) for base in step.closure.members if base in effect.touched]
    bases, owners = np.array(wanted, np.int64).reshape(-1, 2).T
    true = simulated.may_follow(2 * (1 + bases), owners).tolist()
    false = simulated.may_follow(2 * (1 + bases) + 1, owners).tolist()
    at = 0
    for case, step in enumerate(steps):
        must = set(step.value)
        open_ = []
        while at < len(wanted) and wanted[at][1] == case:
            base = wanted[at][0]
            if true[at] and false[at]:
                open_.append(base)
            (must.add if true[at] else must.discard)(base)
            at += 1
        yield step, sorted(must.difference(open_)), open_


def _finished(closure: _Closure, moves: list[int]) -> StateVariable:
    values = tuple(closure.ids)
    literals = tuple(closure.literals(value) for value in values)
    telling = []
    for number, mine in enumerate(literals):
        rest = [set(other.tolist()) for place, other in enumerate(literals) if place != number]
        alone = [x for x in mine.tolist() if not any(x in other for other in rest)]
        # A literal that is true is what people would name.
        telling.append((min(alone, key=lambda x: (x & 1, x)),) if alone else tuple(mine.tolist()))
    changes = {
        move: {value: tuple(sorted(after)) for value, after in closure.changes.get(move, {}).items()}
        for move in moves
    }
    return StateVariable(closure.members, values, literals, tuple(telling), changes)
