"""A clock begins to matter where the end or a goal is another function of the rest than at step 0."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from propnet.analysis.cones import step_clocks
from propnet.analysis.longest import first_change
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.samples import clock_states

COUNTER = (
    " ".join(f"(succ {n} {n + 1})" for n in range(9))
    + """
    (role r) (init (step 0)) (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (legal r flip) (legal r wait)
    (<= (next lit) (does r flip) (not (true lit))) (<= (next lit) (does r wait) (true lit)) """
)


def change(rules: str) -> int | None:
    machine = make_machine(parse_rules(COUNTER + rules), "propnet")
    assert isinstance(machine, PropnetMachine)
    network = machine.network
    clocks = step_clocks(network)
    assert clocks.any()
    return first_change(network, clocks, unpack(clock_states(machine), len(network.bases)).astype(np.bool_))


@pytest.mark.parametrize(
    ("rules", "step"),
    [
        ("(<= terminal (true (step 9))) (<= (goal r 100) (true lit))", 9),
        ("(<= terminal (true lit)) (<= terminal (true (step 4))) (<= (goal r 100) (true lit))", 4),
        ("(<= terminal (true lit)) (<= (goal r 100) (true lit)) (<= (goal r 50) (true (step 3)))", 3),
        ("(<= late (true (step 7))) (<= late (true (step 8))) (<= terminal (true lit) late) (goal r 100)", 7),
        # A goal that needs the clock and its absence is none.
        ("(<= terminal (true lit)) (<= (goal r 100) (true lit)) (<= (goal r 0) (true (step 2)) "
         "(not (true (step 2))))", None),
    ],
)  # fmt: skip
def test_the_first_step_that_changes_an_end_or_a_goal(rules: str, step: int | None) -> None:
    assert change(rules) == step


def test_what_a_move_depends_on_is_not_a_clock() -> None:
    machine = make_machine(
        parse_rules(
            """(role r) (init (step 0)) (succ 0 1) (succ 1 2)
            (<= (legal r go) (true (step 0))) (<= (legal r stay) (true (step 1)))
            (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
            (<= terminal (true (step 2))) (goal r 100)"""
        ),
        "propnet",
    )
    assert isinstance(machine, PropnetMachine)
    clocks = np.flatnonzero(step_clocks(machine.network)).tolist()
    assert [str(machine.proposition(base)) for base in clocks] in ([], ["(step 2)"])
