"""The prover: the machine that evaluates the rules themselves, ready as soon as the rules are read.

Propositions and moves are numbered in the order of their first use. A bounded memory keeps states with the
prover's answers about them. A depth charge is one generated function that plays a game at random to its
end: it works on the evaluator's tables alone, numbers and caches nothing, and computes only the relations
that a random playout needs.
"""

from __future__ import annotations

import random
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from gdl.compile.pipeline import compile_rules
from gdl.compile.program import Predicate, Program
from gdl.compile.specialize import split_by_role
from gdl.compile.stratify import stratify
from gdl.errors import MoveError, RulesError, StateError
from gdl.machine import Machine, Playouts, State
from gdl.prover.evaluator import RECOVERABLE, Evaluator
from gdl.prover.limits import ProverLimits
from gdl.prover.schema import Rows, Tables, each, full, plain
from gdl.rules import Rules
from gdl.terms import DOES, GOAL, INIT, LEGAL, NEXT, ROLE, SEES, TERMINAL, TRUE, Term

_SAMPLES = 60  # states of one random playout in which relations are measured before the first playouts
_SAMPLE_SECONDS = 0.3  # CPU time after which no more states are sampled

_CHECKPOINTS = ((300, 0.9), (3_000, 0.6), (30_000, 0.25))
"""Steps after which playouts stop using the state cache if more than this share of the steps since the
last checkpoint missed it."""


class ProverMachine(Machine):
    """Evaluates the rules bottom-up, and only the relations that a question needs.

    State keys are frozensets of proposition ids. A cache keeps the answers about recent states. The limits
    refuse hostile rules. ``large`` names relations that another machine of these rules has found to be too
    large to be computed whole (:attr:`large_relations`), so that this machine need not find out again.

    Raises:
        RulesError: the rules cannot be played (no role, unstratified negation, ...).
        TooLargeError: the rules multiply out beyond the limits. Every question may raise it.
    """

    level = "prover"

    def __init__(self, rules: Rules, limits: ProverLimits | None = None, large: Iterable[str] = ()) -> None:
        # Rules that are not stratified as written are refused, even if the split by role would stratify them.
        program, _ = compile_rules(rules)
        program, self._by_role = split_by_role(program)
        self._evaluator = Evaluator(program, stratify(program), limits or ProverLimits(), frozenset(large))
        self._program = program
        self._slot = self._evaluator.relations.slot
        super().__init__(rules, self._find_roles(rules))
        self._names = names = Numbering(program, self._by_role, self.roles, self._slot)
        self._terminal = [p.index for p in program.named(TERMINAL, 0)]
        self._next = self._twins(NEXT)
        self._legal = [names.of_role(LEGAL, r) for r in range(len(self.roles))]
        self._goal = [names.of_role(GOAL, r) for r in range(len(self.roles))]
        # Those that take the fewest steps first.
        chain = self._evaluator.schema.chain
        self._sees = sorted((p.index for p in program.named(SEES, 2)), key=chain.__getitem__)
        self._cache = StateCache(len(self.roles))
        tables, moves = self._evaluator.state_tables(), self._evaluator.move_tables()
        self._initial = self._cached_with(self._as_true(self._twins(INIT), tables, moves)).key
        self._charge: Charge | None = None
        self._prepared = False
        self._steps = self._misses = self._checkpoint = 0
        self._charging = False

    def proposition(self, index: int) -> Term:
        if index < 0:
            raise IndexError(index)
        return self._names.propositions[index]

    def proposition_id(self, proposition: Term) -> int:
        return self._names.proposition_id(proposition)

    def move(self, role: int, index: int) -> Term:
        if index < 0:
            raise IndexError(index)
        return self._names.moves[role][index]

    def move_id(self, role: int, move: Term) -> int:
        """See :class:`Machine`. The prover cannot know which moves will ever be legal: it accepts every
        move that has the form of one."""
        return self._names.move_id(role, move)

    @property
    def large_relations(self) -> list[str]:
        """The names of relations that were found to be too large to be computed whole."""
        return self._evaluator.large_relations

    @property
    def functions_written(self) -> int:
        """The number of functions of code that its questions have needed so far. A function that is
        rewritten counts again."""
        return self._evaluator.relations.written

    @property
    def writing_seconds(self) -> float:
        """The CPU time that writing them has taken."""
        return self._evaluator.relations.seconds

    def static_rows(self, name: str, arity: int, most: int) -> set[tuple[Term, ...]]:
        """All rows of a relation that never changes; none if it depends on the state, has more than ``most``
        rows, takes too long, or is not needed by legal moves, goals, ends or states."""
        static = self._evaluator.schema.static
        shapes = self._program.named(name, arity)
        if any(p.index not in static or len(each(static[p.index])) > most for p in shapes):
            return set()
        rows = {self._program.arguments(p.index, full(row)) for p in shapes for row in each(static[p.index])}
        return rows if len(rows) <= most else set()

    def initial_state(self) -> State:
        return State(self, self._initial)

    def legal_moves(self, state: State, role: int) -> list[int]:
        return list(self._legal_of(self._cached(state), role))

    def next_state(self, state: State, joint_move: Sequence[int]) -> State:
        return State(self, self._successor(self._cached(state), tuple(joint_move)).key)

    def percepts(self, state: State, joint_move: Sequence[int]) -> tuple[frozenset[Term], ...]:
        seen: dict[Term, set[Term]] = {role: set() for role in self.roles}
        for predicate_seen in self._perceived(state, joint_move):
            for role, what in predicate_seen:
                if role in seen:
                    seen[role].add(what)
        return tuple([frozenset(seen[role]) for role in self.roles])

    def perceives(
        self, state: State, joint_move: Sequence[int], role: int, percepts: frozenset[Term]
    ) -> bool:
        """Whether a role perceives exactly this: found out with less work than :meth:`percepts`."""
        seen: set[Term] = set()
        for predicate_seen in self._perceived(state, joint_move):
            seen.update(what for who, what in predicate_seen if who is self.roles[role])
            if not seen <= percepts:
                return False
        return seen == percepts

    def _perceived(self, state: State, joint_move: Sequence[int]) -> Iterator[list[tuple[Term, ...]]]:
        """Roles and what they perceive, by one ``sees`` predicate after another."""
        if self._sees:
            tables, moves = self._tables(self._cached(state)), self._move_tables(joint_move)
            for predicate in self._sees:
                rows = each(self._evaluator.rows(predicate, tables, moves))
                yield [self._program.arguments(predicate, full(row)) for row in rows]

    def is_terminal(self, state: State) -> bool:
        return self._is_terminal(self._cached(state))

    def goal(self, state: State, role: int) -> int | None:
        return self._goal_of(self._cached(state), role)

    def result(self, state: State, role: int) -> int | None:
        value = self._result_of(self._cached(state), role)
        return None if value < 0 else value

    def goal_values(self, state: State, role: int) -> frozenset[int]:
        """All goal values (0..100) that hold for the role; exactly one in the ends of correct rules."""
        return frozenset(self._goals_in(self._tables(self._cached(state)), role))

    def true_propositions(self, key: Hashable) -> frozenset[Term]:
        assert isinstance(key, frozenset)
        propositions = self._names.propositions
        return frozenset([propositions[i] for i in key])

    def state_of(self, propositions: Iterable[Term]) -> State:
        return State(self, frozenset([self.proposition_id(p) for p in propositions]))

    def _playouts(self, n: int, seed: int, start: State, max_steps: int) -> Playouts:
        """Playouts of small games go from cached state to cached state; those of large games are depth
        charges. Both choose the same moves."""
        import numpy as np

        if not self._prepared:
            self._prepare_charges()
        rng = random.Random(seed)
        goals = np.full((n, len(self.roles)), -1, np.int16)
        lengths = np.zeros(n, np.int32)
        cut = 0
        roles = range(len(self.roles))
        for i in range(n):
            first = self._cached(start)
            if self._charge is not None and self._charging:
                lengths[i], was_cut, tables = self._charge(self._tables(first), rng.random, max_steps)
                results = [max(self._goals_in(tables, r), default=-1) for r in roles]
            else:
                lengths[i], was_cut, last = self._walk(first, rng.random, max_steps)
                results = [self._result_of(last, r) for r in roles]
            if not was_cut or lengths[i] >= max_steps:  # otherwise some role has no legal move
                goals[i] = results
            cut += was_cut
        return Playouts(goals, lengths, cut)

    def _walk(
        self, cached: CachedState, draw: Callable[[], float], most: int
    ) -> tuple[int, bool, CachedState]:
        """One playout through the cache: steps, whether it was cut, the last state."""
        roles = range(len(self.roles))
        before = self._cache.misses
        steps = 0
        cut = False
        while not (self._is_terminal(cached) if cached.terminal is None else cached.terminal):
            options = [cached.legal[r] or self._legal_of(cached, r) for r in roles]
            if steps >= most or not all(options):
                cut = True
                break
            joint = tuple([o[int(draw() * len(o))] if len(o) > 1 else o[0] for o in options])
            cached = self._successor(cached, joint)
            steps += 1
        self._steps += steps
        self._misses += self._cache.misses - before
        if self._checkpoint < len(_CHECKPOINTS) and self._steps >= _CHECKPOINTS[self._checkpoint][0]:
            self._charging = self._misses > self._steps * _CHECKPOINTS[self._checkpoint][1]
            self._checkpoint += 1
            self._steps = self._misses = 0
        return steps, cut, cached

    def _prepare_charges(self) -> None:
        """Measure the relations in a random playout, plan with the results, and generate the charge."""
        self._prepared = True
        self._evaluator.measure(self._sample())
        self._cache = StateCache(len(self.roles))
        self._steps = self._misses = 0
        of_one_role = set(self._by_role.values())
        if all(p in of_one_role for own in self._legal for p, _ in own):
            plan = ChargePlan(self._terminal, self._legal, self._next, self._names.does)
            self._charge = generate(self._evaluator, plan)

    def _sample(self) -> list[Tables]:
        """The tables of the states of one random playout."""
        self._cache = StateCache(len(self.roles))
        cached = self._cached(self.initial_state())
        draw = random.Random(0).random
        started = time.process_time()
        for _ in range(_SAMPLES):
            steps, _, cached = self._walk(cached, draw, 1)
            if not steps or time.process_time() - started > _SAMPLE_SECONDS:
                break
        return list(self._cache.tables())

    def _is_terminal(self, cached: CachedState) -> bool:
        if cached.terminal is None:
            cached.terminal = any(self._evaluator.rows(p, self._tables(cached)) for p in self._terminal)
        return cached.terminal

    def _legal_of(self, cached: CachedState, role: int) -> list[int]:
        moves = cached.legal[role]
        if moves is None:
            tables = self._tables(cached)
            moves = []
            for predicate, numbers in self._legal[role]:
                rows = self._evaluator.rows(predicate, tables)
                moves += [i for i in map(numbers.__getitem__, each(rows)) if i >= 0]
            if len(moves) > 1:
                moves = sorted(set(moves))
            cached.legal[role] = moves
        return moves

    def _goal_of(self, cached: CachedState, role: int) -> int | None:
        computed, value = cached.goals[role]
        if not computed:
            values = self._goals_in(self._tables(cached), role)
            value = values.pop() if len(values) == 1 else None
            cached.goals[role] = (True, value)
        return value

    def _result_of(self, cached: CachedState, role: int) -> int:
        """The highest goal that holds; -1 for none."""
        value = self._goal_of(cached, role)
        return max(self._goals_in(self._tables(cached), role), default=-1) if value is None else value

    def _goals_in(self, tables: Tables, role: int) -> set[int]:
        values: set[int] = set()
        for predicate, numbers in self._goal[role]:
            values.update(map(numbers.__getitem__, each(self._evaluator.rows(predicate, tables))))
        values.discard(-1)
        return values

    def _successor(self, cached: CachedState, joint: tuple[int, ...]) -> CachedState:
        successor = cached.successors.get(joint)
        if successor is not None and successor.alive:
            return successor
        relations = self._as_true(self._next, self._tables(cached), self._move_tables(joint))
        successor = self._cached_with(relations)
        if cached.alive:
            cached.successors[joint] = successor
        return successor

    def _move_tables(self, joint: Sequence[int]) -> Tables:
        """The tables of a joint move."""
        moves = self._evaluator.move_tables()
        rows: dict[int, set[Any]] = {}
        for role, index in enumerate(joint):
            slot, row = self._names.does[role][index]
            if slot >= 0:
                rows.setdefault(slot, set()).add(row)
        for slot, relation in rows.items():
            moves[slot] = _relation(relation)
        return moves

    def _cached_with(self, relations: list[tuple[int, Rows]]) -> CachedState:
        """The state in which these rows of ``true`` relations hold."""
        numbers = self._names.true
        ids: list[int] = []
        for predicate, rows in relations:
            if rows:
                ids.extend(map(numbers[predicate].__getitem__, each(rows)))
        key = frozenset(ids)
        cached = self._cache.find(key)
        if cached is None:
            tables = self._evaluator.state_tables()
            for predicate, rows in relations:
                tables[self._slot(predicate)] = rows
            cached = self._cache.add(key, tables)
        return cached

    def _cached(self, state: State) -> CachedState:
        key = state.key
        assert isinstance(key, frozenset)
        return self._cache.find(key) or self._cache.add(key, None)

    def _tables(self, cached: CachedState) -> Tables:
        """The tables of a state, rebuilt from its propositions if the cache has none."""
        tables = cached.tables
        if tables is None:
            tables = self._evaluator.state_tables()
            places = self._names.places
            rows: dict[int, set[Any]] = {}
            for index in cached.key:
                predicate, row = places[index]
                rows.setdefault(predicate, set()).add(row)
            for predicate, relation in rows.items():
                tables[self._slot(predicate)] = _relation(relation)
            self._cache.store(cached, tables)
        return tables

    def _find_roles(self, rules: Rules) -> list[Term]:
        """The roles in the order in which the rules name them."""
        roles: set[Term] = set()
        tables = self._evaluator.state_tables()
        moves = self._evaluator.move_tables()
        for predicate in self._program.named(ROLE, 1):
            rows = self._evaluator.rows(predicate.index, tables, moves)
            roles.update(self._program.arguments(predicate.index, full(r))[0] for r in each(rows))
        if not roles:
            raise RulesError("the rules name no role", remedy="add a fact such as (role player)")
        order = [r.head.args[0] for r in rules if r.head.signature == (ROLE, 1)]
        rank = {role: i for i, role in reversed(list(enumerate(order)))}
        return sorted(roles, key=lambda r: (rank.get(r, len(rank)), r))

    def _twins(self, name: str) -> list[tuple[int, int]]:
        """Pairs of a predicate of ``name`` and its twin of ``true``; -1 if specialization changed it."""
        by_shape = {p.shapes: p.index for p in self._program.named(TRUE, 1)}
        return [(p.index, by_shape.get(p.shapes, -1)) for p in self._program.named(name, 1)]

    def _as_true(self, twins: list[tuple[int, int]], tables: Tables, moves: Tables) -> list[tuple[int, Rows]]:
        """The relations of ``next`` or ``init``, computed now, as relations of ``true``."""
        relations = [(n, true, self._evaluator.rows(n, tables, moves)) for n, true in twins]
        if all(true >= 0 for _, true in twins):
            return [(true, rows) for _, true, rows in relations]
        merged: dict[int, set[Any]] = {}
        for predicate, _, rows in relations:
            for row in each(rows):
                (term,) = self._program.arguments(predicate, full(row))
                place = self._program.row(Term(TRUE, term))
                assert place is not None
                merged.setdefault(place[0], set()).add(plain(place[1]))
        return [(p, _relation(rows)) for p, rows in merged.items()]


def _relation(rows: set[Any]) -> Rows:
    """Rows as a relation: True for the empty row of a relation without columns."""
    return True if () in rows else rows


Charge = Callable[[Tables, Callable[[], float], int], tuple[int, bool, Tables]]
"""(state, random number in [0, 1), most steps) -> (steps made, whether cut, last state)."""


@dataclass(frozen=True, slots=True)
class ChargePlan:
    """The relations that the function reads; predicates are given by their indexes.

    Attributes:
        terminal: predicates of ``terminal``.
        legal: per role the predicates of its moves, and the numbers of their rows.
        next: pairs of a predicate of ``next`` and its twin of ``true`` (-1 for none).
        does: per role, move -> slot and row of ``does``; slot -1 if no rule reads it.
    """

    terminal: Sequence[int]
    legal: Sequence[Sequence[tuple[int, Any]]]
    next: Sequence[tuple[int, int]]
    does: Sequence[Mapping[int, tuple[int, Any]]]


def generate(evaluator: Evaluator, plan: ChargePlan) -> Charge | None:
    """The function for one game. None if it does not cover the rules: ``legal`` or ``terminal`` depends on
    ``does``, or roles occur inside other terms."""
    if not _covered(evaluator, plan):
        return None
    names: dict[str, Any] = {
        "begin": evaluator.begin,
        "recover": evaluator.recover,
        "E": RECOVERABLE,
        "move_tables": evaluator.move_tables,
        "state_tables": evaluator.state_tables,
    }
    roles = range(len(plan.legal))
    lines = ["def charge(M, random, most):", " n = 0", " while True:", "  begin()", "  try:"]
    lines += _terminal(evaluator, plan)
    for role in roles:
        lines += _options(evaluator, plan, role, names)
    lines.append("  except E as e: recover(e, M, None); continue")
    for role in roles:
        names[f"does{role}"] = plan.does[role]
        lines.append(f"  i = o{role}[int(random() * len(o{role}))] if len(o{role}) > 1 else o{role}[0]")
        lines.append(f"  slot{role}, row{role} = does{role}[i]")
    lines.append("  D = move_tables()")
    for role in roles:
        lines += [
            f"  if slot{role} >= 0:",
            f"   if D[slot{role}]: D[slot{role}].add(row{role})",
            f"   else: D[slot{role}] = {{row{role}}}",
        ]
    lines += ["  N = state_tables()", "  while True:", "   try:"]
    for predicate, twin in plan.next:
        value, load = _read_code(predicate, evaluator)
        lines += [f"    {line}" for line in (*load, f"N[{evaluator.relations.slot(twin)}] = {value}")]
    lines += ["    break", "   except E as e: recover(e, M, D)", "  M = N", "  n += 1"]
    namespace = evaluator.relations.namespace
    namespace.update(names)
    exec(compile("\n".join(lines), "<charge>", "exec"), namespace)  # numbers only, no rules' text
    charge: Charge = namespace["charge"]
    return charge


def _covered(evaluator: Evaluator, plan: ChargePlan) -> bool:
    schema = evaluator.schema
    legal = [p for relations in plan.legal for p, _ in relations]
    return (
        not any(schema.moves(p) for p in (*plan.terminal, *legal))
        and all(schema.arity[p] for p in legal)
        and all(twin >= 0 for _, twin in plan.next)
        and all(p.arity for p in schema.program.named(DOES, 2))
    )


def _terminal(evaluator: Evaluator, plan: ChargePlan) -> list[str]:
    """The lines that end a playout in a terminal state or at the limit of steps."""
    lines: list[str] = []
    for predicate in plan.terminal:
        value, load = _read_code(predicate, evaluator)
        lines += [f"   {line}" for line in (*load, f"if {value}: return n, False, M")]
    return [*lines, "   if n >= most: return n, True, M"]


def _options(evaluator: Evaluator, plan: ChargePlan, role: int, names: dict[str, Any]) -> list[str]:
    """The lines that list a role's legal moves, ascending, and cut a playout if it has none."""
    static = evaluator.schema.static
    lines: list[str] = []
    parts = []
    always: list[int] = []
    for predicate, numbers in plan.legal[role]:
        if predicate in static:
            always += map(numbers.__getitem__, static[predicate])
            continue
        names[f"k{predicate}_{role}"] = numbers.__getitem__
        value, load = _read_code(predicate, evaluator)
        lines += [f"   {line}" for line in load]
        parts.append(f"*map(k{predicate}_{role}, {value})")
    names[f"c{role}_"] = sorted(always)
    if parts:
        lines.append(f"   o{role} = [{f'*c{role}_, ' if always else ''}{', '.join(parts)}]")
        lines.append(f"   if len(o{role}) > 1: o{role}.sort()")
        lines.append(f"   elif not o{role}: return n, True, M")
    else:
        lines.append(f"   o{role} = c{role}_")
        lines.append(f"   if not o{role}: return n, True, M")
    return lines


def _read_code(predicate: int, evaluator: Evaluator) -> tuple[str, list[str]]:
    """The variable of a relation, and the statements that load it."""
    path = evaluator.relations.path(predicate, (), evaluator.schema.every(predicate))
    return path.name, path.load() if path.loader else []


Value = TypeVar("Value")


class _OnDemand(dict[Any, Value]):
    """A dict that computes the value of a key by a function at its first look-up."""

    def __init__(self, value_of: Callable[[Any], Value]) -> None:
        super().__init__()
        self._value_of = value_of

    def __missing__(self, key: Any) -> Value:
        value = self[key] = self._value_of(key)
        return value


Numbers = _OnDemand[int]
"""Numbers for the rows of a relation."""


class Numbering:
    """The numbers of a machine's propositions and moves.

    Args:
        program: the rules.
        by_role: the predicates of one role each, see :func:`gdl.compile.specialize.split_by_role`.
        roles: in their order.
        slot: returns the slot of a predicate of ``does`` in the tables of a joint move.

    Attributes:
        propositions: by number.
        places: by number of a proposition: its predicate of ``true`` and its row.
        true: by predicate of ``true``: the numbers of its rows.
        moves: by role and number.
        does: by role and number of a move: the slot and row of ``does``; slot -1 if no rule can read it.
    """

    def __init__(
        self,
        program: Program,
        by_role: dict[tuple[int, int], int],
        roles: Sequence[Term],
        slot: Callable[[int], int],
    ) -> None:
        self._program = program
        self._by_role = by_role
        self._roles = roles
        self._slot = slot
        self.propositions: list[Term] = []
        self.places: list[tuple[int, Any]] = []
        self.true = {
            p.index: Numbers(partial(self._new_proposition, p.index)) for p in program.named(TRUE, 1)
        }
        self.moves: list[list[Term]] = [[] for _ in roles]
        self.does = [_OnDemand(partial(self._does_row, r)) for r in range(len(roles))]
        self._move_ids = [_OnDemand(partial(self._new_move, r)) for r in range(len(roles))]

    def _new_proposition(self, predicate: int, row: Any) -> int:
        self.propositions.append(self._program.arguments(predicate, full(row))[0])
        self.places.append((predicate, row))
        return len(self.propositions) - 1

    def proposition_id(self, proposition: Term) -> int:
        """The number of a proposition. Raises StateError if the rules have no proposition of this form."""
        place = self._program.row(Term(TRUE, proposition)) if proposition.ground else None
        if place is None:
            raise StateError(f"{proposition} is not a proposition of the game", remedy="check its spelling")
        predicate, row = place
        return self.true[predicate][plain(row)]

    def move_id(self, role: int, move: Term) -> int:
        """The number of a role's move. Raises MoveError if the rules have no move of this form."""
        numbered = move in self._move_ids[role]
        if not numbered and not (move.ground and self._program.row(Term(DOES, self._roles[role], move))):
            raise MoveError(f"{move} is not a move of {self._roles[role]}", remedy="check its spelling")
        return self._move_ids[role][move]

    def _new_move(self, role: int, move: Term) -> int:
        self.moves[role].append(move)
        return len(self.moves[role]) - 1

    def _does_row(self, role: int, index: int) -> tuple[int, Any]:
        place = self._program.row(Term(DOES, self._roles[role], self.moves[role][index]))
        return (-1, None) if place is None else (self._slot(place[0]), plain(place[1]))

    def of_role(self, name: str, role: int) -> list[tuple[int, Numbers]]:
        """The relations of ``legal`` (``goal``) for a role, and the numbers of moves (goal values) of their
        rows. Rows of other roles and goals that are not numbers have -1."""
        assert name in (LEGAL, GOAL)
        relations = []
        term = self._roles[role]
        for predicate in self._program.named(name, 2):
            index = self._by_role.get((predicate.index, self._program.table.find(term)), predicate.index)

            def number(row: Any, predicate: Predicate = predicate) -> int:
                role_term, argument = self._program.arguments(predicate.index, full(row))
                if role_term is not term:
                    return -1
                return self._move_ids[role][argument] if name == LEGAL else _goal_value(argument)

            relations.append((index, Numbers(number)))
        return relations


def _goal_value(term: Term) -> int:
    name = term.name
    return int(name) if not term.args and name.isascii() and name.isdecimal() and len(name) < 5 else -1


_MAX_STATES = 20_000
_MAX_PROPOSITIONS = 2_000_000  # in all cached states together
_MAX_TABLES = 64  # states with derived relations
_STATE_COST = 50  # the memory of a state without its propositions, in propositions


class CachedState:
    """One state with its answers so far.

    Attributes:
        key: ids of the true propositions.
        tables: its relations; None if the cache has none or has dropped them.
        terminal: None if unknown.
        legal: per role the ids of its moves, ascending; None if unknown.
        goals: per role (whether known, value).
        successors: joint move -> state.
        alive: whether it is in the cache.
    """

    __slots__ = ("alive", "goals", "key", "legal", "successors", "tables", "terminal")

    def __init__(self, key: frozenset[int], roles: int) -> None:
        self.key = key
        self.tables: Tables | None = None
        self.terminal: bool | None = None
        self.legal: list[list[int] | None] = [None] * roles
        self.goals: list[tuple[bool, int | None]] = [(False, None)] * roles
        self.successors: dict[tuple[int, ...], CachedState] = {}
        self.alive = True


class StateCache:
    """A dict of states that drops the least recently used ones. ``misses`` counts the states ever added."""

    def __init__(self, roles: int) -> None:
        self.misses = 0
        self._roles = roles
        self._states: OrderedDict[frozenset[int], CachedState] = OrderedDict()
        self._with_tables: OrderedDict[CachedState, None] = OrderedDict()
        self._propositions = 0

    def find(self, key: frozenset[int]) -> CachedState | None:
        """The state with this key."""
        state = self._states.get(key)
        if state is not None:
            self._states.move_to_end(key)
        return state

    def add(self, key: frozenset[int], tables: Tables | None) -> CachedState:
        """Add and return a new state."""
        state = CachedState(key, self._roles)
        states = self._states
        states[key] = state
        self.misses += 1
        self._propositions += len(key) + _STATE_COST
        if tables is not None:
            self.store(state, tables)
        while len(states) > _MAX_STATES or (self._propositions > _MAX_PROPOSITIONS and len(states) > 1):
            _, old = states.popitem(last=False)
            self._propositions -= len(old.key) + _STATE_COST
            old.alive = False
            old.successors.clear()
        return state

    def store(self, state: CachedState, tables: Tables) -> None:
        """Give a state its tables. If too many states have tables, drop those stored longest ago."""
        state.tables = tables
        self._with_tables[state] = None
        if len(self._with_tables) > _MAX_TABLES:
            self._with_tables.popitem(last=False)[0].tables = None

    def tables(self) -> Iterator[Tables]:
        """All tables in the cache."""
        return (state.tables for state in self._with_tables if state.tables is not None)
