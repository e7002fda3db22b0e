"""Gates over decoded propositions: which member of a group is true becomes a condition on its bits.

A condition "none of these members" is a function of the bits of one code. Where few *cubes* (products of
bits) cover it, or its negation, gates that read the bits take the place of one that reads the members; codes
that no state has may fall on either side (W. Quine, The problem of simplifying truth functions, 1952).
"""

from __future__ import annotations

from collections.abc import Iterable

from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder

WIDEST = 5
"""Bits of codes whose cubes are all looked at; they are 3 to the power of that many."""

Cube = tuple[int, int]
"""Codes that agree with the second number in the bits of the first."""


class CodeGates(CircuitBuilder):
    """A builder of gates that knows which literals are members of groups."""

    def __init__(self, first_gate: int) -> None:
        super().__init__(first_gate)
        # Literals of members: the number of the group, and 1 << code.
        self._member: dict[int, tuple[int, int]] = {}
        # Per group the literals of its bits, and its codes.
        self._groups: list[tuple[list[int], _Codes]] = []
        self._codes: dict[tuple[int, int], _Codes] = {}
        self._known: dict[tuple[int, int], list[int]] = {}

    def add_group(self, bits: list[int], codes: list[int], none: bool) -> list[int]:
        """The literals of members that have these codes, whose bits are these literals; 0 is a code, too, if
        ``none``. Bits are not read that only a code which no state has would need."""
        used = set(codes) | ({0} if none else set())
        decoded = []
        for code in codes:
            cube, read = [code], []
            for bit in range(len(bits)):
                others = [known ^ 1 << bit for known in cube]
                if used.isdisjoint(others):
                    cube += others
                else:
                    read.append(bit)
            decoded.append(self._product([bits[bit] ^ 1 ^ (code >> bit & 1) for bit in read]))
        if len(bits) > 1:
            shape = len(bits), sum(1 << code for code in used)
            if shape not in self._codes:
                self._codes[shape] = _Codes(*shape)
            for x, code in zip(decoded, codes, strict=True):
                self._member[x] = len(self._groups), 1 << code
            self._groups.append((bits, self._codes[shape]))
        return decoded

    def conjunction(self, literals: Iterable[int]) -> int:
        inputs = set(literals)
        true: dict[int, int] = {}
        false: dict[int, list[int]] = {}
        for x in inputs:
            if x in self._member:
                group, code = self._member[x]
                if true.setdefault(group, code) != code:
                    return FALSE
            elif x ^ 1 in self._member:
                false.setdefault(self._member[x ^ 1][0], []).append(x)
        for group, members in sorted(false.items()):
            codes = sum(self._member[x ^ 1][1] for x in members)
            if group in true:
                if true[group] & codes:
                    return FALSE
                inputs.difference_update(members)
            elif len(members) > 1:
                inputs.difference_update(members)
                inputs.update(self._none_of(group, codes, members))
        return super().conjunction(inputs)

    def _none_of(self, group: int, codes: int, plain: list[int]) -> list[int]:
        """Literals that are all true where a group's code is none of these; ``plain`` are such."""
        known = self._known.get((group, codes))
        if known is None:
            known = self._known[group, codes] = self._cheapest(*self._groups[group], codes, sorted(plain))
        return known

    def _cheapest(self, bits: list[int], known: _Codes, codes: int, plain: list[int]) -> list[int]:
        if self.effort < 0:
            return plain
        self.effort -= 2 * len(known.cubes)
        without, within = known.cover(codes), known.cover(known.used & ~codes)
        spent = min(len(plain), _cost(without))
        if _cost(within) + (len(within) > 1) < spent:
            if len(within) == 1:
                return _literals(bits, within[0])
            return [self._product([self._product(_literals(bits, cube)) ^ 1 for cube in within]) ^ 1]
        if _cost(without) == spent:
            return [self._product(_literals(bits, cube)) ^ 1 for cube in without]
        return plain

    def _product(self, literals: list[int]) -> int:
        """A gate as it is."""
        return super().conjunction(literals)


def _cost(cubes: list[Cube]) -> int:
    """Gate inputs that it takes to read some cubes: one of one bit is read as it is."""
    return sum(1 if bits.bit_count() == 1 else 1 + bits.bit_count() for bits, _ in cubes)


def _literals(bits: list[int], cube: Cube) -> list[int]:
    """The bits that a cube reads."""
    mask, value = cube
    return [x ^ 1 ^ (value >> bit & 1) for bit, x in enumerate(bits) if mask >> bit & 1]


class _Codes:
    """The codes that a group's states have, as a set of bits ``1 << code``, and its cubes: each with the
    codes in it that states have."""

    def __init__(self, width: int, used: int) -> None:
        self.used = used
        every = (1 << width) - 1
        masks = list(range(1, every + 1))
        if width > WIDEST:
            masks = [*(1 << bit for bit in range(width)), every]
        by_cube: dict[Cube, int] = {}
        for code in range(every + 1):
            if used >> code & 1:
                for mask in masks:
                    by_cube[mask, code & mask] = by_cube.get((mask, code & mask), 0) | 1 << code
        self.cubes = sorted(by_cube.items(), key=lambda entry: (entry[0][0].bit_count(), entry[0]))

    def cover(self, codes: int) -> list[Cube]:
        """Cubes that cover these codes and no others that states have; greedily, those first that cost least
        for each code that they add."""
        fitting = [(_cost([cube]), held, cube) for cube, held in self.cubes if not held & ~codes]
        chosen: list[Cube] = []
        while codes:
            _, held, cube = min(
                fitting, key=lambda entry: entry[0] / ((entry[1] & codes).bit_count() or 0.01)
            )
            chosen.append(cube)
            codes &= ~held
        return chosen


def products_of(builder: CircuitBuilder, literal: int) -> list[tuple[int, ...]]:
    """A literal as an OR of products, as its gate and those below it say: two levels."""
    if literal <= FALSE:
        return [()] if literal == TRUE else []
    if not literal & 1:
        return [builder.inputs_of(literal) or (literal,)]
    terms = [x ^ 1 for x in builder.inputs_of(literal)] or [literal]
    return [(() if x & 1 else builder.inputs_of(x)) or (x,) for x in terms]
