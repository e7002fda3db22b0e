"""The prover: the machine that asks the rules themselves, ready as soon as they are read."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from gdl.compile.pipeline import compile_rules
from gdl.compile.split_by_role import split_by_role
from gdl.compile.stratify import stratify
from gdl.errors import RulesError
from gdl.machine import Machine, Playouts, State
from gdl.prover.depth_charge import Charge, ChargePlan, generate
from gdl.prover.evaluator import Evaluator
from gdl.prover.limits import ProverLimits
from gdl.prover.numbering import Numbering
from gdl.prover.schema import Rows, Tables, each, full, plain
from gdl.prover.state_cache import CachedState, StateCache
from gdl.rules import Rules
from gdl.terms import GOAL, INIT, LEGAL, NEXT, ROLE, TERMINAL, TRUE, Term

SAMPLES = 60
SAMPLE_SECONDS = 0.3
"""States of one random playout whose relations are measured before the first playouts, and the
CPU time after which fewer must do."""

CHECKPOINTS = ((300, 0.9), (3_000, 0.6), (30_000, 0.25))
"""Steps after which playouts stop remembering states where more than this share of the steps
since the last checkpoint led to new ones."""


class ProverMachine(Machine):
    """Evaluates the rules bottom-up, relation by relation, as far as a question needs them.

    State keys are frozensets of proposition ids. Answers are remembered for the states that
    were asked about last.

    Args:
        rules: the game.
        limits: where hostile rules are stopped.

    Raises:
        RulesError: the rules cannot be played (no role, unstratified negation, ...).
        TooLargeError: the rules multiply out beyond the limits. Every question may raise it.
    """

    level = "prover"

    def __init__(self, rules: Rules, limits: ProverLimits | None = None) -> None:
        # Rules that are not stratified as written are refused, even if the split by role would mend them.
        program, _ = compile_rules(rules)
        program, self._by_role = split_by_role(program)
        self._evaluator = Evaluator(program, stratify(program), limits or ProverLimits())
        self._program = program
        super().__init__(rules, self._find_roles(rules))
        self._names = names = Numbering(program, self._by_role, self.roles, self._evaluator.slot)
        self._terminal = [p.index for p in program.named(TERMINAL, 0)]
        self._next = self._twins(NEXT)
        self._legal = [names.of_role(LEGAL, r) for r in range(len(self.roles))]
        self._goal = [names.of_role(GOAL, r) for r in range(len(self.roles))]
        self._nodes = StateCache(len(self.roles))
        self._initial = self._first_key()
        self._charge: Charge | None = None
        self._prepared = False
        self._walked = self._fresh = self._checkpoint = 0
        self._charging = False

    # --- names ---------------------------------------------------------------------------
    def proposition(self, index: int) -> Term:
        """See :class:`Machine`."""
        if index < 0:
            raise IndexError(index)
        return self._names.propositions[index]

    def proposition_id(self, proposition: Term) -> int:
        """See :class:`Machine`."""
        return self._names.proposition_id(proposition)

    def move(self, role: int, index: int) -> Term:
        """See :class:`Machine`."""
        if index < 0:
            raise IndexError(index)
        return self._names.moves[role][index]

    def move_id(self, role: int, move: Term) -> int:
        """See :class:`Machine`. The prover cannot know which moves will ever be legal: it
        accepts all that have the form of one."""
        return self._names.move_id(role, move)

    # --- the rules -------------------------------------------------------------------------
    def initial_state(self) -> State:
        """See :class:`Machine`."""
        return State(self, self._initial)

    def legal_moves(self, state: State, role: int) -> list[int]:
        """See :class:`Machine`."""
        return list(self._legal_of(self._node(state), role))

    def next_state(self, state: State, joint_move: Sequence[int]) -> State:
        """See :class:`Machine`."""
        return State(self, self._successor(self._node(state), tuple(joint_move)).key)

    def is_terminal(self, state: State) -> bool:
        """See :class:`Machine`."""
        return self._is_terminal(self._node(state))

    def goal(self, state: State, role: int) -> int | None:
        """See :class:`Machine`."""
        return self._goal_of(self._node(state), role)

    def result(self, state: State, role: int) -> int | None:
        """See :class:`Machine`."""
        value = self._result_of(self._node(state), role)
        return None if value < 0 else value

    def true_propositions(self, key: Hashable) -> frozenset[Term]:
        """See :class:`Machine`."""
        assert isinstance(key, frozenset)
        propositions = self._names.propositions
        return frozenset([propositions[i] for i in key])

    def state_of(self, propositions: Iterable[Term]) -> State:
        """See :class:`Machine`."""
        return State(self, frozenset([self.proposition_id(p) for p in propositions]))

    def playouts(
        self, n: int, seed: int = 0, state: State | None = None, max_steps: int = 100_000
    ) -> Playouts:
        """See :class:`Machine`. Small games are played from what is remembered of their
        states, large ones without remembering any; the moves are the same."""
        import numpy as np

        if not self._prepared:
            self._prepare_charges()
        rng = random.Random(seed)
        goals = np.full((n, len(self.roles)), -1, np.int16)
        lengths = np.zeros(n, np.int32)
        cut = 0
        roles = range(len(self.roles))
        for i in range(n):
            start = self._node(self.initial_state() if state is None else state)
            if self._charge is not None and self._charging:
                steps, was_cut, tables = self._charge(self._tables(start), rng.random, max_steps)
                values = [max(self._goals_in(tables, r), default=-1) for r in roles]
            else:
                steps, was_cut, node = self._walk(start, rng.random, max_steps)
                values = [self._result_of(node, r) for r in roles]
            lengths[i] = steps
            cut += was_cut
            goals[i] = values
        return Playouts(goals, lengths, cut)

    def _walk(self, node: CachedState, draw: Callable[[], float], most: int) -> tuple[int, bool, CachedState]:
        """One playout from node to node: steps, whether it was cut, the last node."""
        roles = range(len(self.roles))
        before = self._nodes.made
        steps = 0
        cut = False
        while not (self._is_terminal(node) if node.terminal is None else node.terminal):
            options = [node.legal[r] or self._legal_of(node, r) for r in roles]
            if steps >= most or not all(options):
                cut = True
                break
            joint = tuple([o[int(draw() * len(o))] if len(o) > 1 else o[0] for o in options])
            node = self._successor(node, joint)
            steps += 1
        self._walked += steps
        self._fresh += self._nodes.made - before
        if self._checkpoint < len(CHECKPOINTS) and self._walked >= CHECKPOINTS[self._checkpoint][0]:
            self._charging = self._fresh > self._walked * CHECKPOINTS[self._checkpoint][1]
            self._checkpoint += 1
            self._walked = self._fresh = 0
        return steps, cut, node

    def _prepare_charges(self) -> None:
        """Measure the relations in a random playout, plan by that, and make the charge."""
        self._prepared = True
        evaluator = self._evaluator
        evaluator.measure(self._sample())
        evaluator.count_calls()
        evaluator.measure_calls(self._sample())
        self._nodes = StateCache(len(self.roles))
        self._walked = self._fresh = 0
        of_one_role = set(self._by_role.values())
        if all(p in of_one_role for own in self._legal for p, _ in own):
            plan = ChargePlan(self._terminal, self._legal, self._next, self._names.does_row)
            self._charge = generate(self._evaluator, plan)

    def _sample(self) -> list[Tables]:
        """The tables of the states of one random playout."""
        self._nodes = StateCache(len(self.roles))
        node = self._node(self.initial_state())
        draw = random.Random(0).random
        started = time.process_time()
        for _ in range(SAMPLES):
            steps, _, node = self._walk(node, draw, 1)
            if not steps or time.process_time() - started > SAMPLE_SECONDS:
                break
        return list(self._nodes.tables())

    # --- evaluation ------------------------------------------------------------------------
    def _is_terminal(self, node: CachedState) -> bool:
        found = node.terminal
        if found is None:
            found = node.terminal = any(self._evaluator.rows(p, self._tables(node)) for p in self._terminal)
        return found

    def _legal_of(self, node: CachedState, role: int) -> list[int]:
        found = node.legal[role]
        if found is None:
            tables = self._tables(node)
            found = []
            for predicate, numbers in self._legal[role]:
                rows = self._evaluator.rows(predicate, tables)
                found += [i for i in map(numbers.__getitem__, each(rows)) if i >= 0]
            if len(found) > 1:
                found = sorted(set(found))
            node.legal[role] = found
        return found

    def _goal_of(self, node: CachedState, role: int) -> int | None:
        asked, found = node.goals[role]
        if not asked:
            values = self._goals_in(self._tables(node), role)
            found = values.pop() if len(values) == 1 else None
            node.goals[role] = (True, found)
        return found

    def _result_of(self, node: CachedState, role: int) -> int:
        """The highest goal that holds; -1 for none."""
        found = self._goal_of(node, role)
        return max(self._goals_in(self._tables(node), role), default=-1) if found is None else found

    def _goals_in(self, tables: Tables, role: int) -> set[int]:
        values: set[int] = set()
        for predicate, numbers in self._goal[role]:
            values.update(map(numbers.__getitem__, each(self._evaluator.rows(predicate, tables))))
        values.discard(-1)
        return values

    def _successor(self, node: CachedState, joint: tuple[int, ...]) -> CachedState:
        known = node.successors.get(joint)
        if known is not None and known.alive:
            return known
        evaluator = self._evaluator
        tables = self._tables(node)
        move = evaluator.move_tables()
        rows: dict[int, set[Any]] = {}
        for role, index in enumerate(joint):
            slot, row = self._names.does_row(role, index)
            if slot >= 0:
                rows.setdefault(slot, set()).add(row)
        for slot, found in rows.items():
            move[slot] = True if () in found else found
        relations = self._as_true([(n, p, evaluator.rows(n, tables, move)) for n, p in self._next])
        known = self._node_of(relations)
        if node.alive:
            node.successors[joint] = known
        return known

    def _node_of(self, relations: list[tuple[int, Rows]]) -> CachedState:
        """The node of the state in which these rows of ``true`` relations hold."""
        numbers = self._names.true
        ids: list[int] = []
        for predicate, rows in relations:
            if rows:
                ids.extend(map(numbers[predicate].__getitem__, each(rows)))
        key = frozenset(ids)
        node = self._nodes.find(key)
        if node is None:
            tables = self._evaluator.state_tables()
            for predicate, rows in relations:
                tables[self._evaluator.slot(predicate)] = rows
            node = self._nodes.add(key, tables)
        return node

    def _node(self, state: State) -> CachedState:
        key = state.key
        assert isinstance(key, frozenset)
        return self._nodes.find(key) or self._nodes.add(key, None)

    def _tables(self, node: CachedState) -> Tables:
        """The tables of a node, made anew from its propositions if they were dropped."""
        tables = node.tables
        if tables is None:
            tables = self._evaluator.state_tables()
            places = self._names.places
            rows: dict[int, set[Any]] = {}
            for index in node.key:
                predicate, row = places[index]
                rows.setdefault(predicate, set()).add(row)
            for predicate, found in rows.items():
                tables[self._evaluator.slot(predicate)] = True if () in found else found
            self._nodes.keep(node, tables)
        return tables

    # --- construction ------------------------------------------------------------------------
    def _find_roles(self, rules: Rules) -> list[Term]:
        """The roles in the order in which the rules name them."""
        found: set[Term] = set()
        tables = self._evaluator.state_tables()
        moves = self._evaluator.move_tables()
        for predicate in self._program.named(ROLE, 1):
            rows = self._evaluator.rows(predicate.index, tables, moves)
            found.update(self._program.arguments(predicate.index, full(r))[0] for r in each(rows))
        if not found:
            raise RulesError("the rules name no role", remedy="add a fact such as (role player)")
        order = [r.head.args[0] for r in rules if r.head.signature == (ROLE, 1)]
        rank = {role: i for i, role in reversed(list(enumerate(order)))}
        return sorted(found, key=lambda r: (rank.get(r, len(rank)), r))

    def _twins(self, name: str) -> list[tuple[int, int]]:
        """Pairs of a predicate of ``next`` or ``init`` and that of ``true`` with the same rows
        (-1 where specialization has changed its shape)."""
        by_shape = {p.shapes: p.index for p in self._program.named(TRUE, 1)}
        return [(p.index, by_shape.get(p.shapes, -1)) for p in self._program.named(name, 1)]

    def _as_true(self, found: list[tuple[int, int, Rows]]) -> list[tuple[int, Rows]]:
        """Relations of ``next`` or ``init`` as relations of ``true``."""
        if all(p >= 0 for _, p, _ in found):
            return [(p, rows) for _, p, rows in found]
        merged: dict[int, Any] = {}
        for predicate, _, rows in found:
            for row in each(rows):
                (term,) = self._program.arguments(predicate, full(row))
                place = self._program.row(Term(TRUE, term))
                assert place is not None
                merged.setdefault(place[0], set()).add(plain(place[1]))
        return [(p, True if () in rows else rows) for p, rows in merged.items()]

    def _first_key(self) -> frozenset[int]:
        evaluator = self._evaluator
        tables, moves = evaluator.state_tables(), evaluator.move_tables()
        relations = self._as_true([(i, p, evaluator.rows(i, tables, moves)) for i, p in self._twins(INIT)])
        return self._node_of(relations).key
