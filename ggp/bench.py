"""Measures a machine: how long it takes to make, and how many random playouts it does."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from gdl.machine import Machine
from gdl.rules import Rules


@dataclass(frozen=True, slots=True)
class Measurement:
    """One game on one machine, one thread. Times are seconds of CPU.

    Attributes:
        playouts_per_cpu_s, states_per_cpu_s: by the CPU time of this process; a state is one
            joint move made.
        playouts_per_wall_s, states_per_wall_s: by the clock on the wall.
        mean_length: joint moves per playout.
        cut: playouts that did not reach a terminal state.
        gates, gate_inputs, base_propositions, moves: size of the network (0 on the prover).
        ground_s, build_s: making the ground rules, and the network of them.
        compile_s: everything from there to the first finished playout (kernels loaded from
            the disk cache, or compiled where it is cold).
        playouts: how many were measured.
    """

    game: str
    machine: str
    playouts_per_cpu_s: float
    states_per_cpu_s: float
    playouts_per_wall_s: float
    states_per_wall_s: float
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

    def as_dict(self) -> dict[str, Any]:
        """The fields by name, ready for JSON."""
        return asdict(self)


class _Stopwatch:
    """CPU seconds of this process."""

    def __init__(self) -> None:
        self.last = time.process_time()

    def lap(self) -> float:
        """Seconds since the last lap."""
        now = time.process_time()
        seconds, self.last = now - self.last, now
        return seconds


def measure(name: str, rules: Rules, level: str, seconds: float, seed: int = 0) -> Measurement:
    """Make the machine of a level and run random playouts for about ``seconds`` of CPU.

    Raises:
        RulesError, TooLargeError: the machine cannot be made.
    """
    watch = _Stopwatch()
    sizes = dict.fromkeys(("gates", "gate_inputs", "base_propositions", "moves"), 0)
    ground_s = build_s = 0.0
    machine: Machine
    if level == "prover":
        from gdl.prover import ProverMachine

        watch.lap()
        machine = ProverMachine(rules)
        batch = 1
    else:
        from gdl.ground import ground
        from propnet.build import build
        from propnet.interpret import PropnetMachine

        watch.lap()
        ground_rules = ground(rules)
        ground_s = watch.lap()
        network = build(ground_rules)
        build_s = watch.lap()
        machine = PropnetMachine(rules, network)
        batch = 4096
        sizes = {
            "gates": network.gates,
            "gate_inputs": len(network.gate_inputs),
            "base_propositions": len(network.bases),
            "moves": network.move_count,
        }
    machine.playouts(1, seed)
    compile_s = watch.lap()
    return Measurement(
        game=name,
        machine=machine.level,
        **run(machine, seconds, batch, seed),
        **sizes,
        ground_s=ground_s,
        build_s=build_s,
        compile_s=compile_s,
    )


def run(
    machine: Machine,
    seconds: float,
    batch: int,
    seed: int = 0,
    cpu: Callable[[], float] = time.process_time,
) -> dict[str, Any]:
    """Random playouts for about ``seconds`` of CPU, in batches that grow until one takes a
    good part of that time (lanes that run dry at the end of a batch then do not matter)."""
    done = states = cut = calls = 0
    spent = wall_spent = 0.0
    while True:
        wall = time.perf_counter()
        before = cpu()
        # Never the same playouts twice: a machine that remembers states would be flattered.
        calls += 1
        found = machine.playouts(batch, seed + calls)
        took = cpu() - before
        wall = time.perf_counter() - wall
        if took < seconds / 8 and batch < 1 << 24:
            batch *= 2  # too short to be worth counting
            continue
        done += batch
        states += found.states
        cut += found.cut
        spent += took
        wall_spent += wall
        if spent >= seconds:
            break
    return {
        "playouts_per_cpu_s": done / spent,
        "states_per_cpu_s": states / spent,
        "playouts_per_wall_s": done / wall_spent,
        "states_per_wall_s": states / wall_spent,
        "mean_length": states / done,
        "playouts": done,
        "cut": cut,
    }
