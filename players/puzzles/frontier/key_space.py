"""The key space: which bits of a recoded state tell it from others; codings of states as JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gdl.json_schema import FLAG, check_json, record, row, rows, whole
from players.puzzles.frontier.keys.kinds import NARROW, KeyKind, NarrowKeys, WideKeys
from propnet.jit.arrays import Words
from propnet.machine import PropnetMachine
from propnet.recoding.coding import Coding, ExclusiveGroup
from propnet.recoding.recoded import Recoded


class CodingBrokenError(Exception):
    """Some of the successors of these states do not fit the coding.

    Attributes:
        records: uint64, shape (n, words): the states, recoded.
    """

    def __init__(self, records: Words) -> None:
        super().__init__()
        self.records = records


@dataclass(frozen=True, slots=True)
class KeySpace:
    """Keys of states.

    Attributes:
        machine: the game in few bits; nobody else uses it.
        broken_bit: the bit of a record that says that the coding does not fit.
        key_bits: how many bits a key has: the lowest of the record.
        kind: how arrays hold them.
        clock_mask: uint64, shape (words,): bits that are the same in all states of a layer, and no part of
            keys.
    """

    machine: PropnetMachine
    broken_bit: int
    key_bits: int
    kind: KeyKind
    clock_mask: Words

    @classmethod
    def of(cls, recoded: Recoded, clocks: bool, wide: bool = False) -> KeySpace:
        """The keys of a game, the step clocks in them or not; ``wide``: also keys that one word holds are
        held as wide ones are."""
        bits, clock_mask = recoded.key_bits, recoded.clock_mask
        if clocks:
            bits, clock_mask = recoded.broken_bit, np.zeros_like(clock_mask)
        kind = WideKeys(bits) if wide or bits > NARROW else NarrowKeys(bits)
        return cls(recoded.machine, recoded.broken_bit, bits, kind, clock_mask)

    @property
    def words(self) -> int:
        """Words of a record."""
        return self.machine.words

    @property
    def broken_shift(self) -> np.uint64:
        """Where the broken bit is in the last word of a record."""
        return np.uint64(self.broken_bit & 63)

    def new_machine(self) -> PropnetMachine:
        """A machine over recoded states, for one more thread."""
        return PropnetMachine(self.machine.rules, self.machine.network)


_MOST_BASES = 1 << 20
BASES = rows(whole(0, _MOST_BASES))
"""Numbers of base propositions."""
_GROUPS = rows(row(BASES, FLAG))
CODING_SCHEMA = record(bases=whole(0, _MOST_BASES), groups=_GROUPS, clocks=_GROUPS, left_out=BASES)


def coding_as_json(coding: Coding) -> dict[str, Any]:
    """A coding for a checkpoint."""
    parts = [
        [[list(group.members), group.exact] for group in part] for part in (coding.groups, coding.clocks)
    ]
    return {"bases": coding.bases, "groups": parts[0], "clocks": parts[1], "left_out": list(coding.left_out)}


def coding_from_json(body: object) -> Coding:
    """The coding of a checkpoint. Raises GdlError and ValueError for what is none."""
    check_json(body, CODING_SCHEMA, "coding")
    assert isinstance(body, dict)
    groups, clocks = (
        tuple(ExclusiveGroup(tuple(members), exact) for members, exact in body[part])
        for part in ("groups", "clocks")
    )
    return Coding(body["bases"], groups, clocks, tuple(body["left_out"]))
