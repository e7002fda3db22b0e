"""Straight-line vector code for a network's pieces, as LLVM's assembly language.

A piece becomes one C function ``void f<number>(ptr wires)`` on ``<8 x i64>``. A loop's function calls others,
each as large as a piece, that evaluate its gates forwards and backwards until nothing changes. The text holds
nothing of the rules but numbers.

The pieces that are not compiled yet are interpreted: by a plan with a block for each piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from propnet.jit.vector512 import BYTES, WORDS
from propnet.kernels.plan import BLOCK, LISTED, RUN, GateBlock, GateRun, Plan
from propnet.native.layout import PIECE, Straight

VERSION = 1
"""Changes whenever the code of the same layout would change."""
_TYPE = f"<{WORDS} x i64>"
_ONES = "splat (i64 -1)"
_RETURN = "ret void\n}"


def text(straight: Straight, pieces: Sequence[int]) -> str:
    """LLVM's assembly language of some pieces: a function ``f<piece>`` for each."""
    writer = _VectorCode(straight)
    for piece in pieces:
        _, low, high = straight.pieces[piece].tolist()
        if straight.loops[piece]:
            writer.loop(piece, low, high)
        else:
            writer.begin(f"define void @f{piece}")
            for gate in range(low, high):
                value = writer.gate(gate)
                if writer.stored[gate]:
                    writer.store(value, writer.out[gate])
            writer.lines.append(_RETURN)
    return "\n".join(writer.lines)


class _VectorCode:
    """Writes functions, one at a time; in each the registers ``values`` hold the wires' values."""

    def __init__(self, straight: Straight) -> None:
        self.start, self.literals = straight.start.tolist(), straight.literals.tolist()
        self.out, self.stored = straight.out.tolist(), straight.stored.tolist()
        self.init = straight.plan.init.tolist()
        self.changed = straight.plan.wires - 1
        self.lines: list[str] = []
        self.values: dict[int, str] = {}
        self.count = 0

    def begin(self, head: str) -> None:
        """Open a function."""
        self.lines.append(f"{head}(ptr noalias nocapture %w) nounwind {{")
        self.values.clear()
        self.count = 0

    def new(self, operation: str) -> str:
        """A new register with an operation's result."""
        self.count += 1
        self.lines.append(f"%t{self.count} = {operation}")
        return f"%t{self.count}"

    def pointer(self, wire: int) -> str:
        """A register with the address of a wire."""
        return self.new(f"getelementptr i8, ptr %w, i64 {wire * BYTES}")

    def load(self, wire: int) -> str:
        """A register with a wire's value."""
        value = self.values.get(wire)
        if value is None:
            value = self.values[wire] = self.new(f"load {_TYPE}, ptr {self.pointer(wire)}, align 8")
        return value

    def store(self, value: str, wire: int) -> None:
        """Write a wire."""
        self.lines.append(f"store {_TYPE} {value}, ptr {self.pointer(wire)}, align 8")

    def gate(self, gate: int) -> str:
        """The AND of a gate's literals, which becomes the value of the gate's wire."""
        plain: list[str] = []
        negated: list[str] = []
        for literal in self.literals[self.start[gate] : self.start[gate + 1]]:
            (negated if literal & 1 else plain).append(self.load(literal >> 1))
        value = self._joined("and", plain)
        if negated:
            none = self.new(f"xor {_TYPE} {self._joined('or', negated)}, {_ONES}")
            value = self.new(f"and {_TYPE} {value}, {none}") if value else none
        self.values[self.out[gate]] = value
        return value

    def _joined(self, operation: str, values: list[str]) -> str:
        whole = values[0] if values else ""
        for value in values[1:]:
            whole = self.new(f"{operation} {_TYPE} {whole}, {value}")
        return whole

    def loop(self, piece: int, low: int, high: int) -> None:
        """Write the function of a loop, and those that it calls."""
        parts = [range(at, min(high, at + PIECE)) for at in range(low, high, PIECE)]
        for number, part in enumerate(parts):
            self._round(f"f{piece}_{number}", part)
            self._round(f"b{piece}_{number}", reversed(part))
        self.begin(f"define void @f{piece}")
        for wire in self.out[low:high]:
            self.store(_ONES if self.init[wire] else "zeroinitializer", wire)
        self.lines.append("br label %forward")
        numbers = range(len(parts))
        self._rounds("forward", "backward", [f"f{piece}_{number}" for number in numbers])
        self._rounds("backward", "forward", [f"b{piece}_{number}" for number in reversed(numbers)])
        self.lines.append("settled:")
        self.lines.append(_RETURN)

    def _round(self, name: str, gates: Iterable[int]) -> None:
        """Write the function that evaluates some of a loop's gates once."""
        self.begin(f"define internal void @{name}")
        # Not through `values`: several functions add to this wire, in memory.
        changed = self.new(f"load {_TYPE}, ptr {self.pointer(self.changed)}, align 8")
        for gate in gates:
            wire = self.out[gate]
            before = self.load(wire)
            value = self.gate(gate)
            change = self.new(f"xor {_TYPE} {before}, {value}")
            changed = self.new(f"or {_TYPE} {changed}, {change}")
            self.store(value, wire)
        self.store(changed, self.changed)
        self.lines.append(_RETURN)

    def _rounds(self, label: str, following: str, names: list[str]) -> None:
        """Write a block that calls functions, followed by the next block if they changed something."""
        self.lines.append(f"{label}:")
        self.values.clear()
        self.store("zeroinitializer", self.changed)
        self.lines += [f"call void @{name}(ptr %w)" for name in names]
        changed = self.new(f"load {_TYPE}, ptr {self.pointer(self.changed)}, align 8")
        whole = self.new(f"bitcast {_TYPE} {changed} to i{64 * WORDS}")
        again = self.new(f"icmp ne i{64 * WORDS} {whole}, 0")
        self.lines.append(f"br i1 {again}, label %{following}, label %settled")


def interpreted(straight: Straight, pieces: Sequence[int]) -> Plan:
    """The layout's plan with a block for each of these pieces, in this order.

    Inside a piece gates are sorted by level, then by the numbers of their plain and negated inputs, so that
    the interpreter meets similar gates one after another.
    """
    start, literals = straight.start.tolist(), straight.literals.tolist()
    out = straight.out.tolist()
    inputs: list[int] = []
    runs: list[GateRun] = []
    blocks: list[GateBlock] = []
    for piece in pieces:
        _, low, high = straight.pieces[piece].tolist()
        loop = bool(straight.loops[piece])
        first_run = len(runs)
        level: dict[int, int] = {}
        shaped: list[tuple[int, int, int, int, list[int]]] = []
        for gate in range(low, high):
            some = literals[start[gate] : start[gate + 1]]
            plain = [literal * (BYTES // 2) for literal in some if not literal & 1]
            negated = [literal // 2 * BYTES for literal in some if literal & 1]
            height = 1 + max((level.get(literal >> 1, 0) for literal in some), default=0)
            level[out[gate]] = height
            # A loop's gates keep their order: it settles fastest.
            shape = (0, 0, 0) if loop else (height, len(plain), len(negated))
            shaped.append((*shape, gate, [out[gate] * BYTES, *plain, *negated]))
            if loop:
                runs.append(GateRun(len(plain), len(negated), 1, len(inputs), out[gate]))
                inputs += shaped[-1][-1][1:]
        if loop:
            blocks.append(GateBlock(first_run, len(runs), out[low], out[high - 1] + 1))
            continue
        shaped.sort()
        for (_, plains, negations), alike in groupby(shaped, key=lambda g: g[:3]):
            run = [offsets for *_, offsets in alike]
            runs.append(GateRun(plains, negations, len(run), len(inputs), 0))
            for offsets in run:
                inputs += offsets
        blocks.append(GateBlock(first_run, len(runs), LISTED, 0))
    return replace(
        straight.plan,
        inputs=np.array(inputs, np.uint32),
        runs=np.array(runs, np.int32).reshape(-1, RUN),
        blocks=np.array(blocks, np.int32).reshape(-1, BLOCK),
    )
