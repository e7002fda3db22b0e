"""A machine with a second machine for its playouts, in which blunders are illegal (:mod:`propnet.guides`)."""

from __future__ import annotations

import hashlib
import logging
import math
from dataclasses import replace
from typing import Any

from gdl.errors import GdlError
from gdl.rules import Rules
from propnet.analysis.random_play import forced_moves, rivals
from propnet.guides import decisive, sure_ends
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeCode, NativeMachine, compile_network
from propnet.native.object_cache import ObjectCache, digest
from propnet.network import Network
from propnet.private_files import default_directory
from propnet.storage.file_store import FileStore
from propnet.storage.network_bytes import from_bytes, to_bytes

log = logging.getLogger("players.guided")

# Limits of gate inputs (see docs/measurements.md): of the guide, of the game's own network, of the search for
# blunders.
_MOST_INPUTS = 40_000
_LARGEST = 20_000
_EFFORT = 4_000_000
_TRIED, _LONGEST = 512, 500
_LONGER = 1.1
"""If roles move simultaneously, a guide must lengthen playouts by this factor to be worth its gates (see
docs/measurements.md)."""
_STORED_BYTES = 1 << 28
_VERSION = "11"


class GuidedMachine(NativeMachine):
    """The native machine of a game, and another for playouts from its states.

    Attributes:
        guide: has the same states and moves; fewer of the moves are legal, always at least one.
        exact: whether roles took turns in random play. Then, if one role wins what the other loses, no move
            that the guide leaves out is better than the best one that it keeps.
    """

    def __init__(
        self, rules: Rules, network: Network, code: NativeCode | None, guide: Network, guide_code: NativeCode
    ) -> None:
        super().__init__(rules, network, code)
        self.guide = NativeMachine(rules, guide, guide_code)
        self.exact = forced_moves(self) is not None

    @property
    def playout_machine(self) -> PropnetMachine:
        """The machine of the guide."""
        return self.guide

    def __reduce__(self) -> tuple[Any, ...]:
        return GuidedMachine, (self.rules, self.network, self.code, self.guide.network, self.guide.code)


def guide_network(machine: PropnetMachine) -> Network | None:
    """The guide of a game. None for one role, roles that are not rivals, no move that wins or loses at once,
    or a guide that would be too large. The answer is stored on disk in either case."""
    network = machine.network
    if len(network.roles) < 2 or len(network.gate_inputs) > _LARGEST:
        return None
    store = FileStore(default_directory() / "guides", _STORED_BYTES)
    limits = f"{_VERSION} {_LARGEST} {_MOST_INPUTS} {_EFFORT}"
    name = hashlib.sha256(digest(network) + limits.encode()).hexdigest()[:40]
    if (data := store.get(name)) is not None:
        try:
            stored = from_bytes(data) if data else None
            # Games that differ in names alone share a file.
            return stored and replace(stored, roles=network.roles, bases=network.bases, moves=network.moves)
        except GdlError as error:
            log.warning("%s is not used: %s", name, error)
    guide = None
    if rivals(machine):
        forced = forced_moves(machine)
        if forced is not None:
            guide = decisive(network, forced, most_inputs=_MOST_INPUTS, effort=_EFFORT)
        else:
            guide = sure_ends(network, most_inputs=_MOST_INPUTS, effort=_EFFORT)
            guide = guide if guide is not None and _lengthens(machine, guide) else None
    store.put(name, to_bytes(guide) if guide else b"")
    return guide


def _lengthens(machine: PropnetMachine, guide: Network) -> bool:
    """Whether playouts with this guide are longer by the factor that makes it worth its gates."""
    guiding = PropnetMachine(machine.rules, guide)
    plain, better = (m.playouts(_TRIED, 0, max_steps=_LONGEST).lengths.mean() for m in (machine, guiding))
    return bool(better >= _LONGER * plain)


def compiled_guide(
    machine: PropnetMachine, seconds: float, jobs: int = 1
) -> tuple[Network, NativeCode] | None:
    """The guide's network and its code, compiled by ``jobs`` processes in at most ``seconds`` seconds. None
    if there is no guide, or if not all of it was compiled: an interpreted guide would be slower than none."""
    network = guide_network(machine)
    if network is None:
        return None
    try:
        *_, code = compile_network(network, seconds=seconds, jobs=jobs, cache=ObjectCache())
    except GdlError as error:
        log.info("playouts without a guide: %s", error)
        return None
    return (network, code) if code.complete() else None


def guided(machine: NativeMachine) -> NativeMachine:
    """The machine with a guide built here, or the machine itself if the game has no guide."""
    guide = compiled_guide(machine, math.inf) if machine.compiled else None
    if guide is None:
        return machine
    return GuidedMachine(machine.rules, machine.network, machine.code, *guide)
