"""Networks that were sent compute what they computed."""

from __future__ import annotations

import numpy as np
import pytest

from gdl.errors import GdlError
from players.fleet.fleet import pack, unpack
from players.puzzles.frontier.partitions.messages import pack_network, unpack_network
from propnet.expander import Expander
from propnet.recoding.recoded import Recoded
from propnet.recoding.samples import sample_states
from tests.games.small_sokoban import small_sokoban
from tests.places import GAMES
from tests.players.puzzles.frontier.plain import machine_of

TEXTS = {name: (GAMES / f"{name}.kif").read_text() for name in ("eightpuzzle", "hanoi", "pegsolitaire")}
TEXTS["sokoban"] = small_sokoban().text


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("recoded", [False, True])
def test_states_have_the_same_successors_and_ends(name: str, recoded: bool) -> None:
    machine = machine_of(TEXTS[name])
    states = sample_states(machine)[:300]
    if recoded:
        coded = Recoded.find(machine)
        states, machine = coded.encode(states), coded.machine
    message, arrays = pack_network(machine.network)
    other = unpack_network(*unpack(pack(message, arrays)))
    ours, theirs = Expander(machine).expand(states), Expander(other).expand(states)
    assert len(ours)
    for one, same in (
        (ours.records, theirs.records),
        (ours.parents, theirs.parents),
        (ours.moves, theirs.moves),
    ):
        assert np.array_equal(one, same)
    for one, same in zip(machine.ends(states), other.ends(states), strict=True):
        assert np.array_equal(one, same)


def test_what_is_no_network_is_refused() -> None:
    message, arrays = pack_network(machine_of(TEXTS["hanoi"]).network)
    with pytest.raises(GdlError, match="cannot be read"):
        unpack_network(message, arrays[1:])
