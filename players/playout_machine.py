"""The machine that playouts run on where moves that win or lose at once are told apart (:mod:`propnet.decisive`)."""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

from gdl.errors import GdlError
from gdl.rules import Rules

if TYPE_CHECKING:
    from propnet.interpret import PropnetMachine
    from propnet.network import Network

log = logging.getLogger("players.playouts")

NONE = "none"
"""All legal moves are as likely as each other."""
WINS = "wins"
"""A role that can win at once does."""
SAFE = "safe"
"""A role that can win at once does, and else makes no move by which it loses at once, if it has others."""

KINDS = (NONE, WINS, SAFE)

SECONDS = 1.5
"""For so long native code may be compiled while somebody waits for the machine. That of most games is
ready in the cache by then."""

_MOST_INPUTS = 40_000
"""Gate inputs of the network: those of nineBoardTicTacToe, 18,000, are compiled in two seconds."""
_EFFORT = 6_000_000
"""Gate inputs to look at before giving up: 3 seconds at most. Breakthrough needs a third of it."""
_KEPT_BYTES = 1 << 28
_VERSION = 1


def playout_network(machine: PropnetMachine, kind: str) -> Network | None:
    """The network with the same states in which only the better moves are legal; None where
    no move wins at once, where roles move at the same time, and where it would be too large.

    What is found is kept on disk, whichever it is.

    Args:
        machine: a game.
        kind: ``WINS`` or ``SAFE``.
    """
    from propnet.decisive import decisive
    from propnet.kept_files import KeptFiles, default_directory
    from propnet.network_bytes import from_bytes, to_bytes
    from propnet.object_cache import digest
    from propnet.turns import forced_moves

    network = machine.network
    kept = KeptFiles(default_directory() / "playouts", _KEPT_BYTES)
    what = f"{kind} {_VERSION} {_MOST_INPUTS} {_EFFORT}".encode()
    name = hashlib.sha256(digest(network) + what).hexdigest()[:40]
    data = kept.get(name)
    if data is not None:
        try:
            return from_bytes(data) if data else None
        except GdlError as error:
            log.warning("%s is not used: %s", name, error)
    forced = forced_moves(machine)
    made = None
    if forced is not None:
        made = decisive(network, forced, most_inputs=_MOST_INPUTS, effort=_EFFORT, safe=kind == SAFE)
    kept.put(name, to_bytes(made) if made else b"")
    return made


def playout_machine(machine: PropnetMachine, kind: str) -> PropnetMachine:
    """The machine of :func:`playout_network`, for a machine of native code; else, and where there is no
    such network, the machine itself: the interpreter plays for seconds only, and these would be gone."""
    from propnet.native import NativeMachine, native_machine
    from propnet.object_cache import ObjectCache

    if kind == NONE or not isinstance(machine, NativeMachine) or not machine.compiled:
        return machine
    network = playout_network(machine, kind)
    if network is None:
        return machine
    native = native_machine(machine.rules, network, seconds=SECONDS, cache=ObjectCache())
    return native if native.compiled else machine


def compile_playouts(rules: Rules, network: Network, kind: str, seconds: float) -> None:
    """Have the native code of the playouts' machine ready in the cache."""
    from propnet.interpret import PropnetMachine
    from propnet.native import native_machine
    from propnet.object_cache import ObjectCache

    played = playout_network(PropnetMachine(rules, network), kind)
    if played is not None:
        native_machine(rules, played, seconds=seconds, cache=ObjectCache())
