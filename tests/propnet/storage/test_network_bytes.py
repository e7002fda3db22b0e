"""Networks go through bytes and come back the same; bytes that are not a network are refused."""

from __future__ import annotations

import dataclasses
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from ggp.game import Game
from propnet.build import build
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.storage.network_bytes import from_bytes, to_bytes


@lru_cache
def network_of(game: str) -> Network:
    return build(ground(Game.load(game).rules))


@pytest.mark.parametrize("game", ["tictactoe", "sokoban", "connectfour", "rockpaperscissors"])
def test_every_field_comes_back(game: str) -> None:
    network = network_of(game)
    again = from_bytes(to_bytes(network))
    for field in dataclasses.fields(Network):
        before, after = getattr(network, field.name), getattr(again, field.name)
        if isinstance(before, np.ndarray):
            assert before.dtype == after.dtype
            assert np.array_equal(before, after)
            assert after.flags.writeable
        else:
            assert before == after


def test_a_machine_of_it_plays_the_same_playouts() -> None:
    network = network_of("connectfour")
    rules = Game.load("connectfour").rules
    machine, copy = (PropnetMachine(rules, n) for n in (network, from_bytes(to_bytes(network))))
    ends = [m.playouts(512, seed=3) for m in (machine, copy)]
    assert np.array_equal(ends[0].goals, ends[1].goals)
    assert np.array_equal(ends[0].lengths, ends[1].lengths)


@given(data=st.data())
def test_bytes_that_were_changed_are_refused_or_a_network_that_fits_together(data: st.DataObject) -> None:
    whole = bytearray(to_bytes(network_of("tictactoe")))
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=4)):
        whole[place] = data.draw(st.integers(0, 255))
    try:
        network = from_bytes(bytes(whole[: data.draw(st.integers(len(whole) - 40, len(whole)))]))
    except GdlError:
        return
    literals = np.concatenate([network.gate_inputs, network.next_literals, network.legal_literals])
    assert ((literals >= 0) & (literals < 2 * network.nodes)).all()
    assert network.gate_start[-1] == len(network.gate_inputs)


@pytest.mark.parametrize("data", [b"", b"network 1\n", b"network 1\n{}\n", b"network 2\n{}\n", b"\x80\x04."])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(GdlError, match="not a network"):
        from_bytes(data)
