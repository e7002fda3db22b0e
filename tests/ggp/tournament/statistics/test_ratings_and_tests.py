"""Ratings and sequential tests, by simulated matches."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.tournament.statistics.ratings import ELO, Sprt, _posterior, expected, rate
from ggp.tournament.statistics.scores import (
    Comparison,
)
from tests.examples import examples


def simulated(strengths: dict[str, float], draws: float, games: int, seed: int) -> list[Comparison]:
    rng = random.Random(seed)
    compared = []
    for a, b in combinations(strengths, 2):
        gap = (strengths[a] - strengths[b]) / ELO
        weights = [math.exp(gap / 2), draws, math.exp(-gap / 2)]
        for number in range(games):
            compared.append(Comparison(a, b, rng.choices([1.0, 0.5, 0.0], weights)[0], 1.0, ("g", number)))
    return compared


def test_known_strengths_are_found_within_their_intervals() -> None:
    truth = {"a": -300.0, "b": -40.0, "c": 0.0, "d": 120.0, "e": 220.0}
    inside = total = 0
    for seed in range(40):
        ratings = rate(simulated(truth, 0.8, 60, seed), list(truth))
        for label, elo in truth.items():
            total += 1
            inside += ratings[label].low <= elo <= ratings[label].high
    assert 0.91 < inside / total < 0.99
    many = rate(simulated(truth, 0.8, 4000, 1), list(truth))
    assert [rating.label for rating in many.table] == ["e", "d", "c", "b", "a"]
    assert all(abs(many[label].elo - elo) < 12 for label, elo in truth.items())
    assert many.draws == pytest.approx(0.8, abs=0.05)
    assert many.superiority("e", "a") > 0.999
    assert many.superiority("a", "e") < 0.001


def test_who_wins_everything_has_a_finite_rating() -> None:
    ratings = rate([Comparison("a", "b", 1.0, 1.0, ("g", n)) for n in range(50)], ["a", "b", "idle"])
    assert 200 < ratings["a"].elo < 2000
    assert ratings["a"].low > ratings["b"].elo
    assert ratings["idle"].low < -1000
    assert rate([], ["a"])["a"].elo == 0


@examples(20)
@given(st.integers(0, 1000))
def test_gradient_and_hessian_are_the_derivatives_of_the_posterior(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 9, (4, 4)).astype(float)
    draws = rng.integers(0, 9, (4, 4)).astype(float)
    np.fill_diagonal(wins, 0)
    draws = np.triu(draws, 1) + np.triu(draws, 1).T
    theta = rng.normal(size=5)
    _, gradient, hessian = _posterior(theta, wins, draws)
    for i, step in enumerate(np.eye(5) * 1e-5):
        up, down = _posterior(theta + step, wins, draws), _posterior(theta - step, wins, draws)
        assert (up[0] - down[0]) / 2e-5 == pytest.approx(gradient[i], abs=1e-4)
        np.testing.assert_allclose((up[1] - down[1]) / 2e-5, hessian[i], atol=1e-4)


def decided(test: Sprt, score: float, draws: float, rng: random.Random) -> tuple[str, int]:
    """Play pairs of matches, whose results depend on each other, until the test is decided."""
    scores: list[float] = []
    while not (verdict := test.verdict(scores)):
        tilt = rng.choice((-0.15, 0.15))  # an opening that is good for one role
        pair = 0.0
        for sign in (1, -1):
            win = score - draws / 2 + sign * tilt
            pair += rng.choices([1.0, 0.5, 0.0], [win, draws, 1 - win - draws])[0]
        scores.append(pair / 2)
    return verdict, len(scores)


def test_sequential_tests_err_as_seldom_as_they_promise() -> None:
    test = Sprt(0, 80)
    rng = random.Random(5)
    runs = 80
    wrong0 = sum(decided(test, expected(0), 0.2, rng)[0] == "H1" for _ in range(runs))
    wrong1 = sum(decided(test, expected(80), 0.2, rng)[0] == "H0" for _ in range(runs))
    # Each is binomial with a mean of 4 at most: 10 or more come up with one seed in a hundred.
    assert wrong0 < 10
    assert wrong1 < 10
    far = [decided(test, expected(300), 0.1, rng) for _ in range(10)]
    assert all(verdict == "H1" and length < 60 for verdict, length in far)


def test_a_sequential_test_is_symmetric() -> None:
    rng = random.Random(1)
    scores = [rng.choice((0.0, 0.25, 0.5, 0.75, 1.0)) for _ in range(50)]
    there = Sprt(-30, 50).llr(scores)
    back = Sprt(-50, 30).llr([1 - score for score in scores])
    assert there == pytest.approx(-back, rel=1e-6)
    assert Sprt(0, 10).llr([]) == 0
    assert Sprt(0, 10).bounds == pytest.approx((-2.944, 2.944), abs=0.001)
    assert Sprt(0, 50).history(scores)[-1] == Sprt(0, 50).llr(scores)
