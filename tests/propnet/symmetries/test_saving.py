"""What is saved is estimated from states that a search meets."""

from __future__ import annotations

from dataclasses import replace

import pytest

from propnet.symmetries.canonical import Orbits, paying_orbits, saving
from propnet.symmetries.group import automorphisms
from tests.places import GAMES
from tests.propnet.symmetries.games import game_of


def test_what_a_whole_search_saves() -> None:
    game = game_of(GAMES / "tictactoe.kif")
    orbits = Orbits(game.network, game.group)
    canonical = orbits.canonical_network()
    whole = saving(orbits, canonical, sample=10_000)
    assert whole.met == pytest.approx(5478 / 765)
    assert whole.met - 1 < whole.size <= 8
    assert whole.cost > 1
    assert whole.pays
    assert whole.inputs == (len(game.network.gate_inputs), len(canonical.gate_inputs))


def test_what_saves_nothing_is_left_out() -> None:
    """Where the only states are their own images."""
    game = game_of(GAMES / "tictactoe.kif")
    found = paying_orbits(game.network, game.ground)
    assert found is not None
    assert len(found[1].initial) == len(game.network.bases)
    frozen = replace(game.network, legal_literals=game.network.legal_literals * 0 + 1)
    assert len(automorphisms(frozen, game.ground)) > 1
    assert paying_orbits(frozen, game.ground) is None
    plain = game_of(GAMES / "rockpaperscissors.kif")
    assert len(plain.group) == 1
    assert paying_orbits(plain.network, plain.ground) is None
