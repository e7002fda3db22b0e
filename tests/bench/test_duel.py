"""Duels are fair: whole matches from legal openings, seats changed, and options read as uct reads them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from bench.duel import tuning_of
from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import summary
from players.uct.training import duel
from players.uct.training.duel import advantage, play, play_pair
from players.uct.tuning import Tuning
from propnet.build import build
from propnet.machine import PropnetMachine


def test_tunings_are_read_as_options_of_the_player() -> None:
    assert tuning_of("-") == Tuning()
    assert tuning_of("policy=equal,exploration=0.3,decisive=0") == Tuning(
        policy="equal", exploration=0.3, decisive=False
    )


@pytest.mark.parametrize("text", ["workers=2", "nothing=1", "policy=best", "exploration=much"])
def test_what_a_search_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(GdlError):
        tuning_of(text)


def test_two_good_searches_draw() -> None:
    machine = Game.load("tictactoe").machine("propnet")
    state = machine.initial_state()
    good = tuning_of("-")
    assert play(machine, state, (good, good), 0.05, 1, 9) == [50, 50]
    assert "3.5 of 4" in summary(Tally(3, 1, 0))


@pytest.mark.parametrize(
    ("goals", "seat", "score"),
    [
        ((100, 0), 0, 1.0),
        ((50, 50), 1, 0.5),
        ((100, 0), 1, 0.0),
        ((50, 0, 100), 0, 0.5),
        ((9, 9, 0), 1, 0.75),
    ],
)
def test_a_role_is_compared_with_each_other_one(goals: tuple[int, ...], seat: int, score: float) -> None:
    assert advantage(goals, seat) == score


@pytest.mark.parametrize("roles", [2, 3])
def test_a_pair_of_equal_searches_is_drawn_whoever_wins(roles: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def first_role_wins(machine: object, state: object, tunings: Sequence[Tuning], *_: object) -> list[int]:
        seen.append([tuning.number for tuning in tunings])
        return [100] + [0] * (roles - 1)

    monkeypatch.setattr(duel, "play", first_role_wins)
    machine = Game.load("tictactoe" if roles == 2 else "chinesecheckers").machine("propnet")
    tunings = replace(tuning_of("-"), number=1), replace(tuning_of("-"), number=2)
    for seat in range(roles):
        scores = play_pair(machine, machine.initial_state(), tunings, 0.1, 1, 9, seat)
        assert scores is not None and sum(scores) == 1
    assert seen[:2] == [[1, 2, 2][:roles], [2, 1, 1][:roles]]


def test_a_match_in_which_roles_wait_for_ever_is_drawn() -> None:
    rules = """(role a) (role b) (init (at 0)) (on 0 1) (on 1 0)
    (<= (legal ?r stay) (role ?r)) (<= (legal ?r turn) (role ?r))
    (<= (next (at ?m)) (true (at ?n)) (on ?n ?m)) (<= terminal (true (at 2)))
    (<= (goal ?r 100) (role ?r))"""
    machine = PropnetMachine(parsed := parse_rules(rules), build(ground(parsed)))
    options = tuning_of("-")
    assert play(machine, machine.initial_state(), (options, options), 0.001, 1, longest=7) == [0, 0]
