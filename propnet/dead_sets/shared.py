"""The search for a game's dead sets, shared by all in a process that want it: solvers and rollouts ask for
the same, and again when a search begins anew."""

from __future__ import annotations

import hashlib
import time
from collections import OrderedDict

from propnet.dead_sets.search import DeadSetReport, search_dead_sets
from propnet.machine import PropnetMachine

EFFORT = 200_000_000
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
        self._course = search_dead_sets(machine, effort=EFFORT, patient=False)

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
