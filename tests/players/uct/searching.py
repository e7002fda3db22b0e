"""Searches of tests: begun in a state, and run as far as they go."""

from __future__ import annotations

import time

from gdl.machine import Machine, State
from players.batch_machine import NetworkBatch
from players.uct.search import Search
from players.uct.tuning import Tuning
from tests.machines import network

LONG = 60.0
"""Seconds that no test needs: the number of playouts counts."""


def search_of(
    machine: Machine, tuning: Tuning | None = None, role: int = 0, seed: int = 1, root: State | None = None
) -> Search:
    """A search of a role on a machine, at a state or the first one."""
    search = Search(role, seed, tuning or Tuning())
    search.set_machine(machine)
    search.set_root(machine.initial_state() if root is None else root)
    return search


def run(search: Search, playouts: int | None = None) -> Search:
    """Let a search go on until it has so many playouts of this turn, or everything is proven; return it."""
    while not search.step(time.monotonic() + LONG, playouts):
        pass
    return search


def lanes_of(game: str) -> NetworkBatch:
    """The lanes of one of our games by its name, or of a text of rules."""
    machine = network(game)
    return NetworkBatch(machine, machine)
