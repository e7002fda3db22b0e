"""The builder of native code delivers playouts on registers where they are worth it."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from players.kaskade.stages import build_native, load_native, load_propnet
from propnet.build import build
from propnet.native.machine import NativeMachine
from propnet.recoding.playing import RegisterMachine
from propnet.storage.network_bytes import to_bytes
from tests.propnet.recoding.test_registers import connection_game


@pytest.mark.slow
def test_the_builder_delivers_native_code_first_and_then_registers(tmp_path, monkeypatch):
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    monkeypatch.setattr("players.kaskade.guided_machine.compiled_guide", lambda *_: None)
    monkeypatch.setattr("propnet.recoding.registers.FEWEST", 12)
    monkeypatch.setattr("propnet.recoding.playing.FASTER", 0.0)
    for module in ("registers", "playing"):
        monkeypatch.setattr(f"propnet.recoding.{module}.SAVED", 100)
    text = connection_game(4)
    rules = parse_rules(text)
    network = to_bytes(build(ground(rules)))
    before = load_propnet(rules, network, None)
    for _ in range(2):  # the second time from what is stored
        machines = [load_native(rules, product, before) for product in build_native(text, network)]
        assert {type(machine) for machine in machines[:-1]} == {NativeMachine}
        assert isinstance(machines[-1], RegisterMachine)
        ours, theirs = (machine.playouts(700, 3) for machine in (machines[0], machines[-1]))
        np.testing.assert_array_equal(ours.goals, theirs.goals)
        np.testing.assert_array_equal(ours.lengths, theirs.lengths)
        assert machines[-1].encoder is not None
