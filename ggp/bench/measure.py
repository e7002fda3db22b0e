"""Measures a machine: the cost of building it, and its random playouts per second."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import ggp
from gdl.ends import stuck_in_play
from gdl.machine import Machine
from gdl.rules import Rules
from ggp.stopwatch import Stopwatch

_REPETITIONS = 5
"""Batches of playouts per measurement; their median counts, their range shows the noise."""
_FEWEST = {"prover": 1}
_FEWEST_LANES = 4096
"""The fewest playouts per batch: enough that lanes which run empty at the end matter little."""
_MOST = 1 << 24
_FIRST_SEED, _TRIAL_SEED = 2_000_003, 1_000_003
"""Added to the seed for playouts that do not count: the measurement repeats none of these."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """One game on one machine, one thread. Times are seconds of CPU.

    Attributes:
        playouts_per_cpu_s, states_per_cpu_s: medians over the repetitions; a state is one joint move made.
        playouts_per_wall_s: playouts per second of wall time.
        rates: states per CPU second of each repetition.
        mean_length: joint moves per playout.
        playouts, cut: number of playouts measured; number of them that reached no terminal state.
        gates, gate_inputs, base_propositions, moves: size of the network (0 on the prover).
        ground_s, build_s: times to make the ground rules, and the network from them.
        compile_s: time to make the machine from these: the prover's code, a network's plan or native code.
        cached_s: time to make the native machine once more, from the cache on disk.
        compiled: share of a step's gate inputs that run native.
        first_playout_s: time from there to the first finished playout (kernels come from the disk cache).
        ns_per_lane_step: one joint move of one playout, everything included.
        peak_mb: maximum memory of this process.
        load: mean number of running processes on this computer in the minute before.
        seed: seed of the playouts.
        doubt: the reason why playouts end without a result, if a role is left without moves; otherwise empty.
    """

    game: str
    machine: str
    playouts_per_cpu_s: float
    states_per_cpu_s: float
    playouts_per_wall_s: float
    rates: list[float]
    mean_length: float
    playouts: int
    cut: int
    gates: int
    gate_inputs: int
    base_propositions: int
    moves: int
    ground_s: float
    build_s: float
    compile_s: float
    cached_s: float
    compiled: float
    first_playout_s: float
    ns_per_lane_step: float
    peak_mb: float
    load: float
    seed: int
    doubt: str

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return asdict(self)


def levels() -> tuple[str, ...]:
    """The levels of machines that can be measured, the slowest to play and first ready first."""
    from players.kaskade import LEVELS

    return tuple(level for level in LEVELS if level != "auto")


def measure(
    name: str,
    rules: Rules,
    level: str,
    seconds: float,
    seed: int = 0,
    repetitions: int = _REPETITIONS,
    playouts: int = 0,
) -> Measurement:
    """The measurement of the machine of a level: random playouts for about ``seconds`` of CPU.

    Args:
        name: the name of the game.
        rules: the game.
        level: one of :func:`levels`.
        seconds: CPU time of all repetitions together; a few slow playouts may take longer.
        seed: the same seed gives the same playouts, if ``playouts`` are given.
        repetitions: number of batches; their median counts.
        playouts: playouts per batch; 0 for as many as the time allows.

    Raises:
        RulesError, TooLargeError: the machine cannot be built.
    """
    machine: Any  # a machine with a network has more than the interface
    machine, stages = make(rules, level)
    watch = Stopwatch()
    machine.playouts(1, seed + _FIRST_SEED)
    first_playout_s = watch.lap()
    rates = run(machine, seconds, seed, repetitions, playouts)
    step = 1e9 / rates["states_per_cpu_s"] if rates["states_per_cpu_s"] else 0.0
    sizes: dict[str, Any] = dict.fromkeys(("gates", "gate_inputs", "base_propositions", "moves"), 0)
    network = getattr(machine, "network", None)
    if network is not None:
        sizes = {
            "gates": network.gates,
            "gate_inputs": len(network.gate_inputs),
            "base_propositions": len(network.bases),
            "moves": network.move_count,
        }
    return Measurement(
        game=name,
        machine=level,
        **rates,
        **sizes,
        **stages,
        first_playout_s=first_playout_s,
        ns_per_lane_step=step,
        peak_mb=peak_mb(),
        load=os.getloadavg()[0],
        seed=seed,
        doubt=stuck_in_play(machine) if rates["cut"] else "",
    )


def make(rules: Rules, level: str) -> tuple[Machine, dict[str, Any]]:
    """The machine of a level, and the times of its stages: ``ground_s``, ``build_s``, ``compile_s``,
    ``cached_s``; and ``compiled``. Raises RulesError or TooLargeError if the machine cannot be built."""
    from players.kaskade.make_machine import make_machine

    stages: dict[str, Any] = dict.fromkeys(("ground_s", "build_s", "compile_s", "cached_s", "compiled"), 0.0)
    watch = Stopwatch()
    if level == "prover":
        machine = make_machine(rules, level)
        stages["compile_s"] = watch.lap()
        return machine, stages
    from gdl.grounding.pipeline import ground
    from propnet.build import build
    from propnet.machine import PropnetMachine

    ground_rules = ground(rules)
    stages["ground_s"] = watch.lap()
    network = build(ground_rules)
    stages["build_s"] = watch.lap()
    if level == "propnet":
        machine = PropnetMachine(rules, network)
        stages["compile_s"] = watch.lap()
        return machine, stages
    from players.kaskade.make_machine import COMPILE_SECONDS
    from propnet.native.machine import native_machine
    from propnet.native.object_cache import ObjectCache, host
    from propnet.recoding.registers import with_registers

    host()
    watch.lap()  # LLVM looks up the processor once per process
    with tempfile.TemporaryDirectory() as folder:
        cache = ObjectCache(Path(folder))
        native = native_machine(rules, network, seconds=COMPILE_SECONDS, cache=cache)
        with_registers(native, seconds=COMPILE_SECONDS, cache=cache)
        stages["compile_s"] = watch.lap()
        native = native_machine(rules, network, seconds=0.0, cache=cache)
        native = with_registers(native, seconds=COMPILE_SECONDS, cache=cache)
        stages["cached_s"] = watch.lap()
    stages["compiled"] = native.compiled
    return native, stages


def run(
    machine: Machine,
    seconds: float,
    seed: int = 0,
    repetitions: int = _REPETITIONS,
    playouts: int = 0,
    cpu: Callable[[], float] = time.process_time,
) -> dict[str, Any]:
    """Random playouts for about ``seconds`` of CPU in ``repetitions`` batches of equal size.

    Batches before these determine the size, and warm up kernels and caches. Every batch plays other playouts,
    because repeated ones would flatter a machine that remembers states. If batches take too long, there are
    fewer.
    """
    batch = playouts or _batch(machine, seconds / repetitions, seed, cpu)
    states: list[float] = []
    games: list[float] = []
    steps = cut = 0
    spent = wall_spent = 0.0
    for repetition in range(repetitions):
        wall = time.perf_counter()
        before = cpu()
        result = machine.playouts(batch, seed + repetition)
        took = max(cpu() - before, 1e-9)
        wall_spent += time.perf_counter() - wall
        spent += took
        steps += result.states
        cut += result.cut
        states.append(result.states / took)
        games.append(batch / took)
        enough = 3 if spent > 2 * seconds else repetitions
        if not playouts and len(states) >= (1 if spent > 4 * seconds else enough):
            break
    done = batch * len(states)
    return {
        "playouts_per_cpu_s": median(games),
        "states_per_cpu_s": median(states),
        "playouts_per_wall_s": done / max(wall_spent, 1e-9),
        "rates": states,
        "mean_length": steps / done,
        "playouts": done,
        "cut": cut,
    }


def _batch(machine: Machine, seconds: float, seed: int, cpu: Callable[[], float]) -> int:
    """The number of playouts that take about this long: a power of two, found by trying."""
    batch = _FEWEST.get(machine.level, _FEWEST_LANES)
    trial = seed + _TRIAL_SEED
    while True:
        before = cpu()
        machine.playouts(batch, trial)
        took = max(cpu() - before, 1e-9)
        trial += 1
        if took >= 0.7 * seconds or batch >= _MOST:
            return batch
        growth = 2
        while growth < 16 and growth * took < 0.7 * seconds:
            growth *= 2
        batch *= growth


def peak_mb() -> float:
    """The maximum memory of this process, in 10**6 bytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most * 1024 / 1e6


def engine_version() -> str:
    """Name and version of this program, for records of measurements."""
    version = ggp.version()
    return f"kaskade-ggp {version}" if version else "kaskade-ggp, not installed"
