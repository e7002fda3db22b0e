"""The network of derived relations: which these are, how large it may be, and when it is found again."""

from __future__ import annotations

from pathlib import Path

import pytest

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from propnet import derived as networks
from propnet.build import build
from propnet.derived import derived_network, derived_relations
from propnet.machine import PropnetMachine


def _machine(game: str) -> PropnetMachine:
    rules = Game.load(game).rules
    return PropnetMachine(rules, build(ground(rules)))


def test_derived_relations_depend_on_the_state_and_not_on_moves() -> None:
    rules = parse_rules(
        """
        (role a) (init (p 1)) (size 3)
        (<= (legal a (go ?x)) (seen ?x))
        (<= (seen ?x) (true (p ?x)))
        (<= (moved ?x) (does a (go ?x)))
        (<= (both ?x) (seen ?x) (not (moved ?x)))
        (<= (fixed ?x) (size ?x))
        (<= (next (p ?x)) (both ?x))
        (<= terminal (not (seen 1)))
        (<= (goal a 100) (seen 1))
        """,
        "rules",
    )
    assert derived_relations(rules) == [("seen", 1)]


def test_there_are_no_more_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _machine("amazons")
    relations = derived_relations(machine.rules)
    monkeypatch.setattr(networks, "MOST", 500)
    monkeypatch.setattr(networks, "_KIND", "derived 500\n")
    network = derived_network(machine.rules, machine.network.bases, relations)
    assert network is not None and 0 < len(network.moves[0]) <= 500
    monkeypatch.setattr(networks, "MOST", 0)
    monkeypatch.setattr(networks, "_KIND", "derived 0\n")
    assert derived_network(machine.rules, machine.network.bases, relations) is None


def test_a_network_that_was_built_is_found_again_and_a_damaged_one_built_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    machine = _machine("hex")
    relations = derived_relations(machine.rules)
    asked = machine.rules, machine.network.bases, relations
    first = derived_network(*asked)
    with monkeypatch.context() as patch:
        patch.setattr(networks, "build", None)
        again = derived_network(*asked)
    assert first is not None and again is not None and again.same_as(first)
    (file,) = (tmp_path / "networks").iterdir()
    file.write_bytes(file.read_bytes()[:-9])
    mended = derived_network(*asked)
    assert mended is not None and mended.same_as(first)


def test_a_game_whose_states_are_other_propositions_has_none() -> None:
    machine = _machine("checkers")
    relations = derived_relations(machine.rules)
    assert derived_network(machine.rules, machine.network.bases[1:], relations) is None
