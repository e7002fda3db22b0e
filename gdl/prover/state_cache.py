"""States that the prover remembers with what it found out about them, within bounds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator

from gdl.prover.schema import Tables

MAX_NODES = 20_000
"""States that are remembered, at most."""

MAX_PROPOSITIONS = 2_000_000
"""Propositions in all remembered states together, at most."""

MAX_TABLES = 64
"""States whose derived relations are kept, at most."""

NODE_COST = 50
"""What a node takes besides its propositions, in propositions."""


class CachedState:
    """One state: what is known of it so far.

    Attributes:
        key: ids of the true propositions.
        tables: its relations; None where they were dropped.
        terminal: None where it was not asked yet.
        legal: per role the ids of its moves, ascending; None where not asked.
        goals: per role (asked, value).
        successors: joint move -> node.
        alive: whether it is among the remembered ones.
    """

    __slots__ = ("alive", "goals", "key", "legal", "successors", "tables", "terminal")

    def __init__(self, key: frozenset[int], tables: Tables | None, roles: int) -> None:
        self.key = key
        self.tables = tables
        self.terminal: bool | None = None
        self.legal: list[list[int] | None] = [None] * roles
        self.goals: list[tuple[bool, int | None]] = [(False, None)] * roles
        self.successors: dict[tuple[int, ...], CachedState] = {}
        self.alive = True


class StateCache:
    """Nodes by key; the ones that were not asked for the longest time are forgotten first."""

    def __init__(self, roles: int) -> None:
        self._roles = roles
        self._nodes: OrderedDict[frozenset[int], CachedState] = OrderedDict()
        self._with_tables: OrderedDict[CachedState, None] = OrderedDict()
        self._propositions = 0
        self.made = 0
        """How many nodes were ever made."""

    def find(self, key: frozenset[int]) -> CachedState | None:
        """The node with this key."""
        node = self._nodes.get(key)
        if node is not None:
            self._nodes.move_to_end(key)
        return node

    def add(self, key: frozenset[int], tables: Tables | None) -> CachedState:
        """A new node."""
        node = CachedState(key, None, self._roles)
        self._nodes[key] = node
        self.made += 1
        self._propositions += len(key) + NODE_COST
        if tables is not None:
            self.keep(node, tables)
        nodes = self._nodes
        while len(nodes) > MAX_NODES or (self._propositions > MAX_PROPOSITIONS and len(nodes) > 1):
            _, old = nodes.popitem(last=False)
            self._propositions -= len(old.key) + NODE_COST
            old.alive = False
            old.successors.clear()
        return node

    def keep(self, node: CachedState, tables: Tables) -> None:
        """Give a node its tables, and take them from the one that has had its for longest."""
        node.tables = tables
        self._with_tables[node] = None
        if len(self._with_tables) > MAX_TABLES:
            self._with_tables.popitem(last=False)[0].tables = None

    def tables(self) -> Iterator[Tables]:
        """All tables that are kept."""
        for node in self._with_tables:
            if node.tables is not None:
                yield node.tables
