"""The key space: the bits of a state that distinguish it from others; codings of states as JSON; orbits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gdl.errors import GdlError
from gdl.json_schema import FLAG, check_json, record, row, rows, whole
from players.sorted_sets.keys import Keys
from propnet.jit.arrays import Words
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.recoding.coding import Coding, ExclusiveGroup
from propnet.recoding.recoded import Recoded
from propnet.symmetries.canonical import Orbits, paying_orbits
from propnet.symmetries.group import automorphisms


class CodingBrokenError(Exception):
    """Raised if some successors of these states do not fit the coding.

    Attributes:
        records: uint64, shape (n, words): the states, recoded.
    """

    def __init__(self, records: Words) -> None:
        super().__init__()
        self.records = records


@dataclass(frozen=True, slots=True)
class KeySpace:
    """The keys of states.

    Attributes:
        machine: the game in few bits; used only here.
        broken_bit: the bit of a record that is set if the coding does not fit; None if it always does.
        key_bits: the number of bits of a key: the lowest bits of the record.
        kind: the way arrays hold keys.
        clock_mask: uint64, shape (words,): bits that are the same in all states of a layer, and not part of
            keys.
    """

    machine: PropnetMachine
    broken_bit: int | None
    key_bits: int
    kind: Keys
    clock_mask: Words

    @classmethod
    def of(cls, recoded: Recoded, clocks: bool) -> KeySpace:
        """Return the keys of a game, with or without step clocks."""
        bits, clock_mask = recoded.coding.key_bits, recoded.clock_mask
        if clocks:
            bits, clock_mask = recoded.coding.broken_bit, np.zeros_like(clock_mask)
        return cls(recoded.machine, recoded.coding.broken_bit, bits, Keys(bits), clock_mask)

    @property
    def words(self) -> int:
        """The number of words of a record."""
        return self.machine.words

    @property
    def broken(self) -> int:
        """The broken bit in the last word of a record."""
        return 0 if self.broken_bit is None else 1 << (self.broken_bit & 63)

    def new_machine(self) -> PropnetMachine:
        """Return a machine over recoded states, for another thread."""
        return PropnetMachine(self.machine.rules, self.machine.network)


def orbits_of(machine: PropnetMachine, symmetry: bool, saved: int | None) -> tuple[Orbits, Network] | None:
    """Return the orbits of states and the network of one state of each; None if that does not pay or is not
    wanted (``symmetry``). If a checkpoint has ``saved`` the number of automorphisms, its choice is repeated.
    Raises GdlError if it was of others."""
    if not saved:
        return paying_orbits(machine.network, machine.ground) if symmetry and saved is None else None
    if saved == 1:
        return None
    group = automorphisms(machine.network, machine.ground)
    if len(group) != saved:
        raise GdlError("it is of other automorphisms than are found now")
    orbits = Orbits(machine.network, group)
    return orbits, orbits.canonical_network()


_MOST_BASES = 1 << 20
BASES = rows(whole(0, _MOST_BASES))
"""Numbers of base propositions."""
_GROUPS = rows(row(BASES, FLAG))
CODING_SCHEMA = record(bases=whole(0, _MOST_BASES), groups=_GROUPS, clocks=_GROUPS, left_out=BASES)


def coding_as_json(coding: Coding) -> dict[str, Any]:
    """Return a coding as JSON for a checkpoint."""
    parts = [
        [[list(group.members), group.exact] for group in part] for part in (coding.groups, coding.clocks)
    ]
    return {"bases": coding.bases, "groups": parts[0], "clocks": parts[1], "left_out": list(coding.left_out)}


def coding_from_json(body: object) -> Coding:
    """Return the coding of a checkpoint. Raises GdlError and ValueError if it is not a valid coding."""
    check_json(body, CODING_SCHEMA, "coding")
    assert isinstance(body, dict)
    groups, clocks = (
        tuple(ExclusiveGroup(tuple(members), exact) for members, exact in body[part])
        for part in ("groups", "clocks")
    )
    return Coding(body["bases"], groups, clocks, tuple(body["left_out"]))
