"""A machine with a second one for its playouts, in which moves that lose at once, or do not win at once
where others do, are illegal (:mod:`propnet.guides.decisive`; :mod:`propnet.guides.sure_ends` where roles
move at the same time)."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import replace
from typing import Any

from gdl.errors import GdlError
from gdl.rules import Rules
from propnet.analysis.turns import forced_moves, rivals
from propnet.guides.decisive import decisive
from propnet.guides.sure_ends import sure_ends
from propnet.machine import PropnetMachine
from propnet.native.machine import NativeCode, NativeMachine, compile_network
from propnet.native.object_cache import ObjectCache, digest
from propnet.network import Network
from propnet.storage.file_store import FileStore, default_directory
from propnet.storage.network_bytes import from_bytes, to_bytes

log = logging.getLogger("players.guided")

_MOST_INPUTS = 40_000
"""Gate inputs of the guide: those of nineBoardTicTacToe, 18,000, are compiled in two seconds."""
_LARGEST = 20_000
"""Gate inputs of a game's own network: reversi has 36,000, and 10 s would be spent on its guide in vain."""
_EFFORT = 4_000_000
"""Gate inputs to look at before giving up: 2 seconds at most. Breakthrough needs half of it."""
_TRIED, _LONGEST = 512, 500
_LONGER = 1.1
"""Where roles move at the same time a guide that does not make playouts so many times as long tells little.
In tron_10x10 they have 18 steps instead of 3: 14 games won, 13 drawn, 3 lost, 0.2 s a move."""
_KEPT_BYTES = 1 << 28
_VERSION = "7"


class GuidedMachine(NativeMachine):
    """The native machine of a game, and another for playouts from its states.

    Attributes:
        guide: has the same states and moves; fewer of these are legal, always at least one.
        exact: whether, as far as was seen, roles take turns. Then, if what one role wins the other loses, no
            move that the guide leaves out is better than the best that it keeps.
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
    """The network with the same states in which only the better moves are legal; None where no move wins
    or loses at once, where roles are no rivals, or there is but one, and where it would be too large.

    What is found is kept on disk, whichever it is.
    """
    network = machine.network
    if len(network.roles) < 2 or len(network.gate_inputs) > _LARGEST:
        return None
    kept = FileStore(default_directory() / "guides", _KEPT_BYTES)
    limits = f"{_VERSION} {_LARGEST} {_MOST_INPUTS} {_EFFORT}"
    name = hashlib.sha256(digest(network) + limits.encode()).hexdigest()[:40]
    data = kept.get(name)
    if data is not None:
        try:
            found = from_bytes(data) if data else None
            # Games that differ in names alone share what is kept.
            return found and replace(found, roles=network.roles, bases=network.bases, moves=network.moves)
        except GdlError as error:
            log.warning("%s is not used: %s", name, error)
    made = None
    if rivals(machine):
        forced = forced_moves(machine)
        if forced is not None:
            made = decisive(network, forced, most_inputs=_MOST_INPUTS, effort=_EFFORT)
        else:
            made = sure_ends(network, most_inputs=_MOST_INPUTS, effort=_EFFORT)
            made = made if made is not None and _lengthens(machine, made) else None
    kept.put(name, to_bytes(made) if made else b"")
    return made


def _lengthens(machine: PropnetMachine, guide: Network) -> bool:
    """Whether playouts are longer with this guide, so that it is worth its gates."""
    guiding = PropnetMachine(machine.rules, guide)
    plain, better = (m.playouts(_TRIED, 0, max_steps=_LONGEST).lengths.mean() for m in (machine, guiding))
    return bool(better >= _LONGER * plain)


def compiled_guide(
    machine: PropnetMachine, seconds: float, jobs: int = 1
) -> tuple[Network, NativeCode] | None:
    """The guide's network and its code; None where there is none, or where not all of it could be
    compiled: the interpreter would be slower than playouts without a guide are.

    Args:
        machine: the game.
        seconds: wall time after which no more is compiled.
        jobs: how many processes compile.
    """
    network = guide_network(machine)
    if network is None:
        return None
    try:
        *_, code = compile_network(network, seconds=seconds, jobs=jobs, cache=ObjectCache())
    except GdlError as error:
        log.info("playouts without a guide: %s", error)
        return None
    return (network, code) if code.complete() else None


def guided(machine: NativeMachine, seconds: float = float("inf")) -> NativeMachine:
    """The machine with a guide where there is one, made here and now.

    Args:
        machine: the game.
        seconds: wall time after which no more is compiled.
    """
    found = compiled_guide(machine, seconds) if machine.compiled else None
    if found is None:
        return machine
    return GuidedMachine(machine.rules, machine.network, machine.code, *found)
