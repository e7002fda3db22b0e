"""What depends on what."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gdl.rules import Rules
from propnet.analysis.cones import observed, without_dead_gates
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from tests.propnet.circuits import random_network


def test_what_is_not_observed_and_dead_gates_can_go() -> None:
    """Without both, a network shows the same ends, goals and moves along any line."""
    rng = np.random.default_rng(7)
    unseen = dead = 0
    for _ in range(12):
        network = random_network(rng, 30, [3, 2], 40, loops=2)
        seen = observed(network)
        constants = np.where(network.initial, 0, 1)
        smaller = without_dead_gates(
            replace(network, next_literals=np.where(seen, network.next_literals, constants).astype(np.int32))
        )
        unseen, dead = unseen + int((~seen).sum()), dead + network.gates - smaller.gates
        machines = [PropnetMachine(Rules(()), each) for each in (network, smaller)]
        records = [pack(np.repeat(network.initial[None, :], 20, axis=0)) for _ in machines]
        for _ in range(6):
            moves = np.stack([rng.integers(0, 3, 20), rng.integers(0, 2, 20)], axis=1).astype(np.int32)
            pairs = zip(machines, records, strict=True)
            records = [machine.successors(record, moves) for machine, record in pairs]
            answers = [machine.evaluate(record) for machine, record in zip(machines, records, strict=True)]
            for name in ("terminal", "goals", "legal"):
                assert np.array_equal(getattr(answers[0], name), getattr(answers[1], name))
            first, second = (unpack(record, 30)[:, seen] for record in records)
            assert np.array_equal(first, second)
    assert unseen > 0
    assert dead > 0
