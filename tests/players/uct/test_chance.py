"""UCT where chance plays: its moves are drawn, all alike, and nothing is taken to be forced by it."""

from __future__ import annotations

import time

import pytest

from gdl.machine import Machine
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.uct.player import UctPlayer
from players.uct.search import Search
from players.uct.tuning import Tuning
from tests.players.random_games import random_game
from tests.players.uct.searching import run, search_of

# A safe move is worth 60; a risky one 90 in two of three cases, else 10: 63.3 on average. Chance that
# played for itself, or against the player, would make something else of it.
GAMBLE = """
(role player) (role random) (init (turn player))
(<= (legal player safe) (true (turn player)))
(<= (legal player risky) (true (turn player)))
(<= (legal player noop) (not (true (turn player))))
(<= (legal random (draw ?n)) (true (turn random)) (number ?n))
(<= (legal random noop) (not (true (turn random))))
(number 1) (number 2) (number 3)
(<= (next (turn random)) (does player risky))
(<= (next (result 60)) (does player safe))
(<= (next (result 90)) (does random (draw 1)))
(<= (next (result 90)) (does random (draw 2)))
(<= (next (result 10)) (does random (draw 3)))
(<= terminal (true (result ?v)))
(<= (goal player ?v) (true (result ?v)))
(<= (goal player 50) (not over))
(<= over (true (result ?v)))
"""
TOGETHER = GAMBLE.replace("(<= (legal random noop) (not (true (turn random))))", "").replace(
    "(<= (legal random (draw ?n)) (true (turn random)) (number ?n))",
    "(<= (legal random (draw ?n)) (number ?n))",
).replace("(<= (next (turn random)) (does player risky))", "").replace(
    "(does random (draw", "(does player risky) (does random (draw"
)  # fmt: skip

CHANCE_FIRST = GAMBLE.replace("(role player) (role random)", "(role random) (role player)")


def machine_of(text: str, level: str) -> Machine:
    return make_machine(parse_rules(text), level)


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize("text", [GAMBLE, TOGETHER], ids=["in turn", "together"])
def test_a_gamble_is_worth_its_mean(text: str, level: str) -> None:
    machine = machine_of(text, level)
    player = UctPlayer(seed=3, playouts=1_500 if level == "prover" else 6_000)
    player.start(machine, 0, machine.initial_state(), 0.0, time.monotonic())
    choice = player.choose(machine.initial_state(), time.monotonic() + 60)
    player.stop()
    values = {str(machine.move(0, one.move)): one.value for one in choice.candidates}
    assert values["risky"] == pytest.approx(190 / 3, abs=4)
    assert "proven" not in choice.note
    if text is GAMBLE:
        assert str(machine.move(0, choice.move)) == "risky"


def test_draws_of_chance_are_alike() -> None:
    machine = machine_of(GAMBLE, "propnet")
    state = machine.initial_state().play("risky")
    player = UctPlayer(seed=1, playouts=1_024)
    player.start(machine, 1, state, 0.0, time.monotonic())
    visits = [one.visits for one in player.choose(state, time.monotonic() + 60).candidates]
    player.stop()
    expected = sum(visits) / 3
    assert sum((n - expected) ** 2 / expected for n in visits) < 13.8  # chi square, one in a thousand


def exploration(text: str, role: int) -> float:
    """The exploration constant of a search after 4,000 playouts."""
    machine = machine_of(text, "propnet")
    search = run(search_of(machine, Tuning(knowledge="off"), role=role), 4_000)
    return search.rounds._rules()[0].exploration


def test_moves_are_explored_as_much_where_chance_is_the_first_role() -> None:
    expected = exploration(GAMBLE, 0)
    assert expected > 0.1
    assert exploration(CHANCE_FIRST, 1) == pytest.approx(expected, rel=0.2)


def test_no_time_goes_to_trials_of_policies_in_which_no_game_would_count() -> None:
    search = Search(0, 1, Tuning(knowledge="off"))
    search.set_machine(machine_of(GAMBLE, "propnet"))
    assert search.rounds.rollouts.trials is None and search.rounds.carries
    search.set_machine(machine_of(random_game(1, 2, False), "propnet"))
    assert search.rounds.rollouts.trials is not None
