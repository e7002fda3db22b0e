"""The state cache: bounded memory of states, each with the prover's answers about it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from gdl.prover.schema import Tables

MAX_STATES = 20_000
MAX_PROPOSITIONS = 2_000_000  # in all cached states together
MAX_TABLES = 64  # states with derived relations
STATE_COST = 50  # the memory of a state besides its propositions, in propositions


class CachedState:
    """One state, and the answers about it so far.

    Attributes:
        key: ids of the true propositions.
        tables: its relations; None where the cache has none or has dropped them.
        terminal: None where unknown.
        legal: per role the ids of its moves, ascending; None where unknown.
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
    """States by key; drops the least recently used ones first. ``misses`` counts the states ever added."""

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
        """A new state."""
        state = CachedState(key, self._roles)
        states = self._states
        states[key] = state
        self.misses += 1
        self._propositions += len(key) + STATE_COST
        if tables is not None:
            self.store(state, tables)
        while len(states) > MAX_STATES or (self._propositions > MAX_PROPOSITIONS and len(states) > 1):
            _, old = states.popitem(last=False)
            self._propositions -= len(old.key) + STATE_COST
            old.alive = False
            old.successors.clear()
        return state

    def store(self, state: CachedState, tables: Tables) -> None:
        """Give a state its tables, and drop those of the state that has had its for longest."""
        state.tables = tables
        self._with_tables[state] = None
        if len(self._with_tables) > MAX_TABLES:
            self._with_tables.popitem(last=False)[0].tables = None

    def tables(self) -> Iterator[Tables]:
        """All tables in the cache."""
        return (state.tables for state in self._with_tables if state.tables is not None)
