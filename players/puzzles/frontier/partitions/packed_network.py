"""A network as a message: its gates, and how many propositions and moves there are, without their names.

Whoever has it numbers states and moves as the sender does.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from gdl.terms import Term
from players.fleet.fleet import Arrays, Message
from propnet.machine import PropnetMachine
from propnet.network import Network

_ARRAYS = {
    "gate_start": np.int32, "gate_inputs": np.int32, "loops": np.int32, "loop_init": np.uint8,
    "next_literals": np.int32, "legal_literals": np.int32, "goals": np.int32, "initial": np.bool_,
}  # fmt: skip


def pack_network(network: Network) -> tuple[Message, Arrays]:
    """The message, and the arrays that go with it."""
    message = {
        "moves": [len(moves) for moves in network.moves],
        "base_gates": network.base_gates,
        "terminal": network.terminal_literal,
    }
    return message, [np.asarray(getattr(network, name), dtype) for name, dtype in _ARRAYS.items()]


def unpack_network(message: Message, arrays: Arrays) -> PropnetMachine:
    """A machine over the network; the names of roles, propositions and moves are made up. Raises GdlError
    where the arrays are none of a network."""
    if len(arrays) != len(_ARRAYS):
        raise GdlError("a network of another node cannot be read", remedy="install one version on all nodes")
    read: dict[str, Any] = {
        name: np.asarray(array, dtype) for (name, dtype), array in zip(_ARRAYS.items(), arrays, strict=True)
    }
    counts = [int(count) for count in message["moves"]]
    network = Network(
        roles=tuple(Term(f"role{role}") for role in range(len(counts))),
        bases=tuple(Term(f"base{base}") for base in range(len(read["next_literals"]))),
        moves=tuple(tuple(Term(f"move{move}") for move in range(count)) for count in counts),
        base_gates=int(message["base_gates"]),
        terminal_literal=int(message["terminal"]),
        **read,
    )
    return PropnetMachine(parse_rules("(role role0)", "part"), network)
