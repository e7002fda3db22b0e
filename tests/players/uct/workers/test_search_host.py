"""A node searches what it is told, and says of each root what its own processes know."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from ggp.game import Game
from players.uct.tuning import Tuning
from players.uct.workers.search_host import SearchHost

GAME = Game.load("tictactoe")
MACHINE = ProverMachine(GAME.rules)


def start(match: str = "m", **change: object) -> dict[str, object]:
    told = {"role": 0, "seed": 1, "tuning": asdict(Tuning(memory=1 << 22)), "workers": 1, "rules": GAME.text}
    return {"do": "start", "match": match, **told, **change}


def think(number: int, match: str = "m", moves: int = 0) -> dict[str, object]:
    state = MACHINE.initial_state()
    for _ in range(moves):
        joint = [MACHINE.legal_moves(state, role)[0] for role in range(2)]
        state = MACHINE.next_state(state, joint)
    facts = " ".join(map(str, state.propositions))
    return {"do": "think", "match": match, "number": number, "state": facts, "seconds": 600.0}


class Node:
    """A host of searches that is asked one thing after the other."""

    def __init__(self) -> None:
        self.host = SearchHost()
        self.runner = asyncio.Runner()

    def ask(self, message: dict[str, object]) -> tuple[dict[str, Any], Sequence[Any]]:
        return self.runner.run(self.host.call(message, ()))

    def read(self, number: int, seconds: float = 0.05) -> tuple[dict[str, Any], Sequence[Any]]:
        return self.ask({"do": "read", "number": number, "seconds": seconds})

    def counts(self, number: int) -> list[int]:
        """The moves of each role at a root, once it has been searched."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            answer, arrays = self.read(number)
            if answer["number"] == number and answer["nodes"]:
                visits, totals, proven = arrays
                assert len(visits) == len(totals) == len(proven) == sum(answer["counts"])
                assert (totals <= visits).all() and (totals >= 0).all()
                return list(answer["counts"])
        raise AssertionError("the node says nothing")


@pytest.fixture
def node() -> Iterator[Node]:
    made = Node()
    yield made
    made.host.close()
    made.runner.close()


@pytest.mark.slow
def test_a_node_searches_one_root_after_the_other_and_tells_of_no_older_one(node: Node) -> None:
    node.ask(start())
    node.ask(think(1))
    assert node.counts(1) == [9, 1]
    node.ask({**think(1), "fix": 0})
    node.ask(think(2, moves=2))
    assert node.counts(2) == [7, 1]
    assert node.read(1, 0)[0]["number"] == -1


def test_a_root_that_is_solved_before_it_is_asked_for_is_told_as_well(node: Node) -> None:
    node.ask(start())
    node.ask(think(1))
    value, end = -1, time.monotonic() + 60
    while value < 0 and time.monotonic() < end:
        value = node.read(1)[0]["value"]
    assert value == 50
    node.ask({**think(1), "fix": 0})
    node.ask(think(2, moves=2))
    assert node.counts(2) == [7, 1]


@pytest.mark.slow
def test_a_match_that_is_not_known_is_asked_for_and_another_takes_its_place(node: Node) -> None:
    assert node.ask(think(1))[0] == {"lacks": True}
    node.ask(start("m"))
    node.ask(think(1, "m"))
    node.counts(1)
    node.ask(start("n", role=1))
    assert node.ask(think(1, "m"))[0] == {"lacks": True}
    node.ask(think(1, "n"))
    assert node.counts(1) == [9, 1]


def test_rules_and_states_that_are_none_are_refused_and_the_next_match_is_taken(node: Node) -> None:
    with pytest.raises(GdlError):
        node.ask(start(rules="(role"))
    node.ask(start())
    for wrong in ({**think(1), "state": "(cell 1"}, {"do": "anything"}):
        with pytest.raises(GdlError):
            node.ask(wrong)
    node.ask(think(2))
    node.counts(2)


def test_a_node_searches_without_knowledge_in_files_that_it_does_not_have(tmp_path: Path, node: Node) -> None:
    """What the player's startclock has taught ended all searches of nodes elsewhere."""
    here = tmp_path / "here.knowledge"
    here.touch()
    for number, (path, used) in enumerate(
        {"/nowhere/x": "off", f"{here}": f"{here}", "auto": "auto"}.items()
    ):
        tuning = Tuning(memory=1 << 22, knowledge=path, knowledge_share=1.0, looks=True)
        node.ask(start(f"m{number}", tuning=asdict(tuning)))
        assert node.host._start[2].knowledge == used
        assert (node.host._start[2].looks is None) == (used == "off")
