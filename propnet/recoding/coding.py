"""The coding of a network's states in few bits: exclusive groups, clocks, and propositions that are left out.
In gates, "this member of a group is true" becomes a condition on its bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder


@dataclass(frozen=True, slots=True)
class ExclusiveGroup:
    """Base propositions (ids) of which at most one is true in a state, or exactly one if ``exact``.

    A group's code is the place of the true one, counted from 0 if ``exact``, else from 1: then 0 means that
    none is true. A single proposition is a group that is not exact; its code is its value.
    """

    members: tuple[int, ...]
    exact: bool = False

    @property
    def first_code(self) -> int:
        """The code of the first member; those of the others follow."""
        return 0 if self.exact else 1

    @property
    def width(self) -> int:
        """Bits of a code."""
        return (self.first_code + len(self.members) - 1).bit_length()

    def codes(self) -> Iterator[tuple[int, int]]:
        """Each member with its code."""
        return ((base, self.first_code + place) for place, base in enumerate(self.members))


@dataclass(frozen=True, slots=True)
class Coding:
    """The origin of the bits of a recoded state.

    The record of a recoded state holds, from bit 0 up, the codes of ``groups``, then those of ``clocks``,
    then one bit, *broken*. The first group is the least significant one of the key.

    Attributes:
        bases: the number of base propositions of the network that is recoded.
        groups: the propositions in the key.
        clocks: those that need not distinguish states (:func:`propnet.analysis.cones.step_clocks`).
        left_out: base propositions (ids) that keep their initial value.
    """

    bases: int
    groups: tuple[ExclusiveGroup, ...]
    clocks: tuple[ExclusiveGroup, ...] = ()
    left_out: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError unless each base proposition is in one place and each group has a member."""
        parts = [*self.left_out, *(base for group in self.all_groups for base in group.members)]
        if sorted(parts) != list(range(self.bases)):
            raise ValueError("a coding must name each base proposition once")
        if not all(group.members for group in self.all_groups):
            raise ValueError("a coding has a group without members")

    @property
    def all_groups(self) -> tuple[ExclusiveGroup, ...]:
        """The groups of the key, then those of the clocks."""
        return self.groups + self.clocks

    @property
    def starts(self) -> list[int]:
        """The first bit of each group, the clocks' after the key's; at the end the broken bit."""
        return list(accumulate((group.width for group in self.all_groups), initial=0))

    @property
    def key_bits(self) -> int:
        """The number of bits, the first ones, that distinguish states."""
        return sum(group.width for group in self.groups)

    @property
    def broken_bit(self) -> int:
        """The topmost bit of a record: past the key and the clocks."""
        return self.key_bits + sum(group.width for group in self.clocks)

    @property
    def bits(self) -> int:
        """Bits of a record, with the broken bit."""
        return self.broken_bit + 1


class Codec:
    """Converts the bits of states into codes and back. Meant for few states; for many the network does it."""

    def __init__(self, coding: Coding, initial: NDArray[np.bool_]) -> None:
        """``initial``, shape (bases,), holds the values of the propositions that are left out."""
        self.coding = coding
        self.initial = np.asarray(initial, np.bool_)
        groups = coding.all_groups
        self._code_of = np.zeros((coding.bases, coding.broken_bit), np.float32)
        self._member_of = np.zeros((coding.bases, len(groups)), np.float32)
        for number, (group, start) in enumerate(zip(groups, coding.starts, strict=False)):
            for base, code in group.codes():
                self._member_of[base, number] = 1
                self._code_of[base, start : start + group.width] = code >> np.arange(group.width) & 1
        self._fewest = np.array([group.exact for group in groups], np.float32)
        self._left_out = np.array(coding.left_out, np.int64)

    def encode(self, bits: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Codes, shape (n, coding.bits), of states, shape (n, bases). States that cannot be coded have the
        broken bit set."""
        values = bits.astype(np.float32)
        count = values @ self._member_of
        changed = bits[:, self._left_out] != self.initial[self._left_out]
        broken = changed.any(axis=1) | ((count > 1) | (count < self._fewest)).any(axis=1)
        codes: NDArray[np.bool_] = np.column_stack([values @ self._code_of > 0, broken])
        return codes

    def decode(self, codes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """States, shape (n, bases), of codes, shape (n, coding.bits); any state for codes that no state
        has."""
        bits = np.zeros((len(codes), self.coding.bases), np.bool_)
        bits[:, self._left_out] = self.initial[self._left_out]
        for group, start in zip(self.coding.all_groups, self.coding.starts, strict=False):
            code = codes[:, start : start + group.width] @ (1 << np.arange(group.width))
            place = code - group.first_code
            rows = np.flatnonzero((place >= 0) & (place < len(group.members)))
            bits[rows, np.array(group.members)[place[rows]]] = True
        return bits


class CodeGates(CircuitBuilder):
    """A builder of gates that recognises literals of groups' members."""

    def __init__(self, first_gate: int) -> None:
        super().__init__(first_gate)
        self._group_of: dict[int, int] = {}
        self._groups = 0

    def add_group(self, bits: list[int], codes: list[int], none: bool) -> list[int]:
        """The literals of members with these codes, given the literals of the codes' bits. If ``none``, 0 is
        a code, too. A bit is not read if only codes that no state has would need it."""
        used = set(codes) | ({0} if none else set())
        decoded = []
        for code in codes:
            cube, read = [code], []
            for bit in range(len(bits)):
                others = [code_in_cube ^ 1 << bit for code_in_cube in cube]
                if used.isdisjoint(others):
                    cube += others
                else:
                    read.append(bit)
            decoded.append(super().conjunction(bits[bit] ^ 1 ^ (code >> bit & 1) for bit in read))
        if len(bits) > 1:
            self._group_of.update(dict.fromkeys(decoded, self._groups))
            self._groups += 1
        return decoded

    def conjunction(self, literals: Iterable[int]) -> int:
        inputs = set(literals)
        true = {self._group_of[x]: x for x in inputs if x in self._group_of}
        if any(x in self._group_of and true[self._group_of[x]] != x for x in inputs):
            return FALSE
        # Where one member is true, the others are false.
        return super().conjunction(
            x for x in inputs if true.get(self._group_of.get(x ^ 1, -1), x ^ 1) == x ^ 1
        )


def products_of(builder: CircuitBuilder, literal: int) -> list[tuple[int, ...]]:
    """A literal as an OR of products, by its gate and the gates below: two levels."""
    if literal <= FALSE:
        return [()] if literal == TRUE else []
    if not literal & 1:
        return [builder.inputs_of(literal) or (literal,)]
    terms = [x ^ 1 for x in builder.inputs_of(literal)] or [literal]
    return [(() if x & 1 else builder.inputs_of(x)) or (x,) for x in terms]
