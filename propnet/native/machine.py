"""`NativeMachine`: the network compiled to straight-line vector code, piece by piece.

The interpreter runs the pieces that are not compiled, so a machine can be used before all are compiled. The
pieces that every step needs are compiled first, those of the goals last.
"""

from __future__ import annotations

import logging
import math
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdl.errors import TooLargeError
from gdl.rules import Rules
from propnet.jit.vector512 import LANES
from propnet.kernels.evaluate import successors
from propnet.kernels.kernel_args import KernelArgs, Segment, with_segments
from propnet.kernels.plan import GOALS, MOVES, PLAY, Plan, plan
from propnet.kernels.records import pack
from propnet.kernels.scratch import new_wires
from propnet.machine import PropnetMachine
from propnet.native.codegen import interpreted, text
from propnet.native.layout import Straight, straighten
from propnet.native.object_cache import Loaded, ObjectCache, Target, compile_text, host
from propnet.network import Network

log = logging.getLogger("propnet.native")

UNIT = 16
"""Pieces per object file."""
PAYS = 0.6
"""The compiled share of a step's gate inputs from which the compiled machine is faster. The interpreter is
slower on pieces in straight-line order than on its own order (see docs/measurements.md)."""
LARGE = 40_000
"""Gate inputs of a step from which native code may not fit into the processor's caches: both are then
timed."""
_CLEARLY = 1.05
"""The factor of the interpreter's time up to which native code is preferred."""
_SECONDS_PER_INPUT = 5e-5
"""LLVM's time per gate input, roughly (see docs/measurements.md)."""


@dataclass(frozen=True)
class NativeCode:
    """The compiled part of a network.

    Attributes:
        straight: the layout.
        target: the processor for which it is compiled.
        objects: object files by the first of their pieces.
    """

    straight: Straight
    target: Target
    objects: dict[int, bytes]

    def share(self) -> float:
        """The compiled share of the gate inputs that every step needs, 0 to 1."""
        units = _units(self.straight)
        need = [u for u in units if self.straight.pieces[u[0], 0] != GOALS]
        total = _inputs(self.straight, range(len(self.straight.pieces)), goals=False)
        done = sum(_inputs(self.straight, unit) for unit in need if unit[0] in self.objects)
        return done / total if total else 1.0

    def complete(self) -> bool:
        """Whether everything that can be compiled is compiled."""
        return all(unit[0] in self.objects for unit in _units(self.straight))


class NativeMachine(PropnetMachine):
    """A machine whose gates are native code. Otherwise it is the :class:`PropnetMachine` of the same
    network: the same ids, records and random choices.

    It interprets the network if too little is compiled to pay.

    Attributes:
        code: the compiled part, if any.
        compiled: the share of a step's gate inputs that run as native code, 0 to 1.
    """

    level = "native"

    def __init__(self, rules: Rules, network: Network, code: NativeCode | None) -> None:
        self.code = code
        self.compiled = code.share() if code else 0.0
        super().__init__(rules, network)

    def __reduce__(self) -> tuple[Any, ...]:
        return NativeMachine, (self.rules, self.network, self.code)

    def _laid_out(self) -> tuple[Plan, KernelArgs]:
        if self.code and self.compiled >= PAYS:
            try:
                # The code lives as long as this object.
                self._loaded = Loaded(list(self.code.objects.values()), self.code.target)
            except (RuntimeError, MemoryError) as error:
                log.warning("native code cannot be loaded: %s; the network is interpreted", error)
            else:
                native = _with_native(self.code, self._loaded)
                if native[0].step_inputs < LARGE:
                    return native
                interpreter = super()._laid_out()
                if _step_seconds(*native) <= _CLEARLY * _step_seconds(*interpreter):
                    return native
                log.info("native code is not faster than the interpreter here; the network is interpreted")
                self.compiled = 0.0
                return interpreter
        self.compiled = 0.0
        return super()._laid_out()


def compile_network(
    network: Network,
    *,
    seconds: float = float("inf"),
    jobs: int = 1,
    cache: ObjectCache | None = None,
    target: Target | None = None,
) -> Iterator[NativeCode]:
    """Compile a network. Yields the compiled part so far, each time a larger one.

    It yields the code in the cache, if any; the code when it begins to pay (:data:`PAYS`); and the final
    code, after storing it in the cache.

    Args:
        seconds: wall time after which no piece is started; the last code is then incomplete.
        jobs: the number of processes that compile; if above 1, in addition to this one.
        cache: searched first, and stores the code.
        target: the processor to compile for; by default this one.

    Raises:
        TooLargeError: the part that could be compiled in time would be too small to pay, or the network
            cannot be addressed.
    """
    deadline = time.monotonic() + seconds
    target = target or host()
    cached = cache.get(network, target) if cache else None
    if not cached:
        _check_time(network, seconds * jobs)
    straight, objects = cached or (straighten(network), {})
    units = _units(straight)
    if objects:
        yield NativeCode(straight, target, dict(objects))
    todo = [unit for unit in units if unit[0] not in objects]
    if not todo:
        if not objects:
            yield NativeCode(straight, target, {})
        return
    paid = False
    try:
        for first, data in _compile(straight, todo, target, jobs, deadline):
            objects[first] = data
            if paid or len(objects) == len(units):
                continue
            code = NativeCode(straight, target, dict(objects))
            paid = code.share() >= PAYS
            if paid:
                yield code
    except (RuntimeError, MemoryError, OSError) as error:
        log.warning("native code: %s; the part that is not compiled is interpreted", error)
    if cache:
        cache.put(network, target, straight, objects)
    yield NativeCode(straight, target, dict(objects))


def native_machine(
    rules: Rules, network: Network, *, seconds: float = float("inf"), cache: ObjectCache | None = None
) -> NativeMachine:
    """The machine of a network, compiled now. After ``seconds`` of wall time no more is compiled. ``cache``
    is searched first, and stores the code."""
    code: NativeCode | None = None
    try:
        *_, code = compile_network(network, seconds=seconds, cache=cache)
    except TooLargeError as error:
        log.info("%s; the network is interpreted", error.message)
    return NativeMachine(rules, network, code)


def _check_time(network: Network, seconds: float) -> None:
    """Raise TooLargeError if code would not pay by then. Gates that only goals need may wait."""
    if len(network.gate_inputs) * PAYS * _SECONDS_PER_INPUT <= seconds:
        return
    needed = plan(network).step_inputs * PAYS * _SECONDS_PER_INPUT
    if needed > seconds:
        raise TooLargeError(
            f"native code would take {needed:.0f} s to pay, but has {seconds:.0f} s",
            remedy="the interpreter plays the game meanwhile; give the compiler more time",
        )


def _units(straight: Straight) -> list[list[int]]:
    """The pieces of each object file, the most needed first."""
    units: list[list[int]] = []
    for section in (PLAY, MOVES, GOALS):
        pieces = np.flatnonzero(straight.pieces[:, 0] == section).tolist()
        units += [pieces[low : low + UNIT] for low in range(0, len(pieces), UNIT)]
    return units


def _inputs(straight: Straight, pieces: Iterable[int], *, goals: bool = True) -> int:
    """The number of inputs of these pieces' gates, with or without those of GOALS."""
    section, low, high = straight.pieces[list(pieces)].T
    counted = goals | (section != GOALS)
    return int((straight.start[high] - straight.start[low])[counted].sum())


def _with_native(code: NativeCode, loaded: Loaded) -> tuple[Plan, KernelArgs]:
    """The layout for the kernels: a segment for each compiled piece, and for each stretch of other pieces."""
    straight = code.straight
    native = {piece for unit in _units(straight) if unit[0] in code.objects for piece in unit}
    rest = [piece for piece in range(len(straight.pieces)) if piece not in native]
    plan = interpreted(straight, rest)
    block_of = {piece: block for block, piece in enumerate(rest)}
    segments: list[Segment] = []
    bounds: list[int] = []
    for section in (PLAY, GOALS, MOVES):
        begin = len(segments)
        for piece in np.flatnonzero(straight.pieces[:, 0] == section).tolist():
            block = block_of.get(piece, -1)
            if block < 0:
                segments.append(Segment(loaded.address(f"f{piece}"), 0, 0))
            elif len(segments) > begin and not segments[-1].function:
                segments[-1] = segments[-1]._replace(end_block=block + 1)
            else:
                segments.append(Segment(0, block, block + 1))
        bounds.append(len(segments))
    play, goals, moves = bounds
    return plan, with_segments(plan, segments, (play, goals, moves), legal_in_place=True)


def _step_seconds(plan: Plan, args: KernelArgs) -> float:
    """CPU time of evaluating 512 states and their successors: the shortest of many, without other
    processes."""
    wires = new_wires(plan)
    records = np.repeat(pack(plan.initial[None, :]), LANES, axis=0)
    moves = np.zeros((LANES, len(plan.role_moves) - 1), np.int32)
    after = np.empty_like(records)
    shortest = float("inf")
    for _ in range(24):
        before = time.thread_time()
        successors(args, wires, records, moves, plan.percept_offsets, plan.percept_signs, after, records[:0])
        shortest = min(shortest, time.thread_time() - before)
    return shortest


_OVERTIME_SECONDS = 10.0
"""A compiler that has sent nothing for this time after the deadline is stopped: a unit takes a second."""
_Results = queue.SimpleQueue[tuple[int, bytes] | Exception | None]
"""Object files by their first pieces. None, perhaps after an error, when a process has finished."""


def _compile(
    straight: Straight, units: Sequence[list[int]], target: Target, jobs: int, deadline: float
) -> Iterator[tuple[int, bytes]]:
    """Yield the object files of these units, by their first pieces."""
    if jobs > 1 and len(units) > 2 * jobs:
        yield from _compile_in_processes(straight, units, target, jobs, deadline)
        return
    for unit in units:
        if time.monotonic() >= deadline:
            return
        yield unit[0], compile_text(text(straight, unit), target)


def _compile_in_processes(
    straight: Straight, units: Sequence[list[int]], target: Target, jobs: int, deadline: float
) -> Iterator[tuple[int, bytes]]:
    """Like :func:`_compile`, by several processes: LLVM holds a lock, so threads would not help."""
    todo: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
    for unit in units:
        todo.put(unit)
    results: _Results = queue.SimpleQueue()
    arguments = [target.cpu, target.features]
    command = [sys.executable, "-P", "-m", "propnet.native.object_cache", *arguments]
    pipe, shared = subprocess.PIPE, (straight, todo, results, deadline)
    processes = [subprocess.Popen(command, stdin=pipe, stdout=pipe) for _ in range(jobs)]
    threads = [threading.Thread(target=_feed, args=(p, *shared), daemon=True) for p in processes]
    for thread in threads:
        thread.start()
    try:
        working = jobs
        while working:
            left = max(0.0, deadline + _OVERTIME_SECONDS - time.monotonic())
            try:
                result = results.get(timeout=None if math.isinf(left) else left)
            except queue.Empty:
                log.info("%d compilers do not respond: the rest is interpreted", working)
                return
            if result is None:
                working -= 1
            elif isinstance(result, Exception):
                raise RuntimeError(f"a compiler ended: {result}")
            else:
                yield result
    finally:
        for process in processes:
            process.kill()
        for thread in threads:
            thread.join()
        for process in processes:
            process.__exit__(None, None, None)


def _feed(
    process: subprocess.Popen[bytes],
    straight: Straight,
    todo: queue.SimpleQueue[list[int]],
    results: _Results,
    deadline: float,
) -> None:
    """Let one process compile units until there are no more."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        while time.monotonic() < deadline:
            try:
                unit = todo.get_nowait()
            except queue.Empty:
                break
            source = text(straight, unit).encode()
            process.stdin.write(b"%d\n" % len(source) + source)
            process.stdin.flush()
            size = int(process.stdout.readline() or b"-1")
            data = process.stdout.read(max(0, size))
            if size < 0 or len(data) < size:
                raise OSError(f"it ended with status {process.poll()}")
            results.put((unit[0], data))
    except Exception as error:  # also a lack of memory: the caller waits for a result
        results.put(error)
    results.put(None)
