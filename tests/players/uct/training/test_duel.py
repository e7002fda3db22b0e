"""Duels leave the moves of chance to chance, the same in both matches of a pair, and give it no seat."""

from __future__ import annotations

import pytest

from players.uct.training import duel
from players.uct.training.duel import Series, play_pair
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine
from tests.machines import network
from tests.players.knowledge.test_self_play import GAMBLE, GUESS, THREE


def _pair(machine: PropnetMachine, seed: int) -> tuple[float, float]:
    usual = Tuning()
    result = play_pair(machine, machine.initial_state(), (usual, usual), 0.0, seed, 10)
    assert result is not None
    return result


def test_both_matches_of_a_pair_have_the_same_throws(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = network(GAMBLE)
    asked: list[int] = []

    def risky(search: object, state: object, role: int, seconds: float, rng: object) -> int:
        asked.append(role)
        return max(
            machine.legal_moves(state, role), key=lambda move: str(machine.move(role, move)) == "risky"
        )

    monkeypatch.setattr(duel, "choose", risky)
    pairs = {_pair(machine, seed) for seed in range(30)}
    # Who is white wins by a throw of 1 or 2, in both matches; by one of 3 black does.
    assert pairs == {(1.0, 0.0), (0.0, 1.0)}
    assert set(asked) == {0}  # the others have no choice, and chance is drawn


@pytest.mark.parametrize(("text", "seats"), [(GAMBLE, {0}), (GUESS, {1}), (THREE, {0, 1, 2})])
def test_chance_has_no_seat(text: str, seats: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(duel, "play_pair", lambda *given: asked.append(given[-1]) or (0.5, 0.5))
    series = Series(network(text), (Tuning(), Tuning()), 1)
    for _ in range(6):
        series.play(0.0)
    assert set(asked) == seats and len(series.scores) == 12 and series.wins == series.losses == 0


STUCK = """
(role white) (role black) (role {third}) (init start)
(<= (legal white (bid ?n)) (number ?n))
(<= (legal black (bid ?n)) (number ?n) {condition})
(<= (legal {third} (throw ?n)) (number ?n) {other})
(number 1) (number 2)
(<= (next later) (true start))
(<= (next (won ?n)) (true later) (does white (bid ?n)))
(<= terminal (true (won ?n)))
(goal white 100) (goal black 0) (goal {third} 0)
"""


@pytest.mark.parametrize("third", ["random", "red"])
@pytest.mark.parametrize("stuck", ["black", "third"])
def test_a_match_in_which_a_role_has_no_legal_move_is_drawn(third: str, stuck: str) -> None:
    conditions = {"condition": "", "other": "", "condition" if stuck == "black" else "other": "(true start)"}
    machine = network(STUCK.format(third=third, **conditions))
    assert _pair(machine, 1) == (0.5, 0.5)
