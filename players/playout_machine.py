"""The machine that playouts run on where moves that win at once are to be made (:mod:`propnet.decisive`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gdl.rules import Rules

if TYPE_CHECKING:
    from propnet.interpret import PropnetMachine
    from propnet.network import Network

SECONDS = 1.5
"""For so long native code may be compiled while somebody waits for the machine. That of most games is
ready in the cache by then."""

_GROWTH = 8
"""How many times as many new gate inputs there may be as there were. In breakthrough there are 6 times as
many, and 20 % fewer playouts; in connect four 2 times, and as many playouts as before."""
_MOST_INPUTS = 40_000
"""Of the new gates: two seconds of the compiler's time."""
_EFFORT = 250_000
"""Gate inputs to look at before giving up: half a second at most. Breakthrough needs a third of it."""


def playout_network(machine: PropnetMachine) -> Network | None:
    """The network with the same states and moves in which a role that can win at once must; None where
    no move can, where roles move at the same time, and where it would be too large."""
    from propnet.decisive import decisive
    from propnet.turns import forced_moves

    forced = forced_moves(machine)
    if forced is None:
        return None
    most = min(_GROWTH * len(machine.network.gate_inputs), _MOST_INPUTS)
    return decisive(machine.network, forced, most_inputs=most, effort=_EFFORT)


def playout_machine(machine: PropnetMachine) -> PropnetMachine:
    """The machine of :func:`playout_network`, for a machine of native code; else, and where there is no
    such network, the machine itself: the interpreter plays for seconds only, and these would be gone."""
    from propnet.native import NativeMachine, native_machine
    from propnet.object_cache import ObjectCache

    if not isinstance(machine, NativeMachine) or not machine.compiled:
        return machine
    network = playout_network(machine)
    if network is None:
        return machine
    native = native_machine(machine.rules, network, seconds=SECONDS, cache=ObjectCache())
    return native if native.compiled else machine


def compile_playouts(rules: Rules, network: Network, seconds: float) -> None:
    """Have the native code of the playouts' machine ready in the cache."""
    from propnet.interpret import PropnetMachine
    from propnet.native import native_machine
    from propnet.object_cache import ObjectCache

    played = playout_network(PropnetMachine(rules, network))
    if played is not None:
        native_machine(rules, played, seconds=seconds, cache=ObjectCache())
