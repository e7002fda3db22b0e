"""Numbers of propositions and moves in the order of their first use, and the state cache.

The cache is a bounded memory of states, each with the prover's answers about it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from gdl.compile.program import Predicate, Program
from gdl.errors import MoveError, StateError
from gdl.prover.schema import Tables, full, plain
from gdl.terms import DOES, GOAL, LEGAL, TRUE, Term

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
