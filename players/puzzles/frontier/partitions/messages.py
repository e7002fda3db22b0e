"""What travels between a search and its parts: coded blocks of runs, in parcels, and the network of the game.

A network is sent without the names of propositions and moves. Whoever has it numbers states and moves as the
sender does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from gdl.terms import Term
from players.fleet.fleet import Arrays, Message
from players.puzzles.frontier.runs import CodedKeys, Run, RunBlock
from propnet.jit.arrays import Octets
from propnet.machine import PropnetMachine
from propnet.network import Network

_PARCEL_BYTES = 4 << 20
"""Bytes of a message, about."""


def pack_blocks(blocks: Iterable[CodedKeys]) -> tuple[list[Any], Arrays]:
    """Rows of JSON, and two arrays: the coded keys, and the tags."""
    held = list(blocks)
    rows = [[hex(one.first), hex(one.last), one.count, one.packed, len(one.keys)] for one in held]
    return rows, [octets(b"".join(one.keys for one in held)), octets(b"".join(one.tags for one in held))]


def unpack_blocks(rows: Sequence[Any], arrays: Arrays) -> Iterator[CodedKeys]:
    """The blocks; without tags where none were sent."""
    keys, tags = (array.tobytes() for array in arrays)
    at = tag = 0
    for first, last, count, packed, size in rows:
        mine = tags[tag : tag + count]
        yield CodedKeys(int(first, 16), int(last, 16), count, packed, keys[at : at + size], mine)
        at, tag = at + size, tag + count


def block_of(run: Run, block: RunBlock, tags: bool) -> CodedKeys:
    """A block of a run, as it is coded there."""
    mine = run.read_tags(block).tobytes() if tags else b""
    return CodedKeys(block.first, block.last, block.count, block.packed, run.keys.read(block.number), mine)


def parcels(run: Run, blocks: Sequence[RunBlock]) -> Iterator[Sequence[RunBlock]]:
    """Blocks of a run, as many at a time as a message takes; one parcel without any where there are none."""
    start = size = 0
    for number, block in enumerate(blocks):
        size += run.keys.sizes[block.number] + block.count
        if size >= _PARCEL_BYTES:
            yield blocks[start : number + 1]
            start, size = number + 1, 0
    if start < len(blocks) or not blocks:
        yield blocks[start:]


def octets(data: bytes) -> Octets:
    """Bytes as an array."""
    return np.frombuffer(data, np.uint8)


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
