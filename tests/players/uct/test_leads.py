"""Two roles play for their lead where they fight over goals that do not add up, and only there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from players.uct.leads import add_up, fight, replace_by_leads
from players.uct.tuning import Tuning
from tests.machines import network
from tests.players.uct.searching import run, search_of

WAR = """
    (role ann) (role bob) (other ann bob) (other bob ann)
    (init (turn ann)) (init (left 12))
    (init (men ann 5)) (init (men bob 5)) (init (shot ann 0)) (init (shot bob 0))
    (less 1 0) (less 2 1) (less 3 2) (less 4 3) (less 5 4) (less 6 5) (less 7 6) (less 8 7) (less 9 8)
    (less 10 9) (less 11 10) (less 12 11)
    (worth 0 0) (worth 1 16) (worth 2 32) (worth 3 48) (worth 4 64) (worth 5 80)
    (<= (shoots ?r) (does ?r shoot))
    (<= (legal ?r shoot) (true (turn ?r)) (other ?r ?o) (true (men ?r ?n)) (less ?n ?k)
        (true (men ?o ?m)) (less ?m ?l))
    (<= (legal ?r rest) (true (turn ?r)))
    (<= (legal ?r wait) (other ?r ?o) (true (turn ?o)))
    (<= (next (turn ?o)) (true (turn ?r)) (other ?r ?o))
    (<= (next (left ?m)) (true (left ?n)) (less ?n ?m))
    (<= (next (shot ?r ?n)) (true (shot ?r ?n)) (not (shoots ?r)))
    (<= (next (shot ?r ?m)) (true (shot ?r ?n)) (shoots ?r) (less ?m ?n))
    (<= (next (men ?r ?n)) (true (men ?r ?n)) (other ?r ?o) (not (shoots ?o)))
    (<= (next (men ?r ?m)) (true (men ?r ?n)) (other ?r ?o) (shoots ?o) (less ?n ?m))
    (<= terminal (true (left 0)))
    (<= (goal ?r ?g) (true (shot ?r ?n)) (worth ?n ?g))
"""
"""Six turns each: shoot one of the other's five men, or rest. A role without men cannot shoot."""

GOALS = st.lists(st.tuples(st.integers(-1, 100), st.integers(-1, 100)), max_size=40).map(
    lambda rows: np.array(rows, np.int16).reshape(-1, 2)
)
RESULTS = GOALS.map(lambda goals: np.maximum(goals, 0) / 100.0)
PLAYOUTS = 5_000


@given(GOALS)
def test_whether_roles_fight_does_not_depend_on_their_order(goals: np.ndarray) -> None:
    assert fight(goals) == fight(goals[:, ::-1])


@given(st.lists(st.integers(0, 100), min_size=1))
def test_leads_are_the_results_where_goals_add_up(first: list[int]) -> None:
    goals = np.array([(goal, 100 - goal) for goal in first], np.int16)
    assert not fight(goals)
    leads = goals / 100.0
    replace_by_leads(leads)
    assert np.allclose(leads, goals / 100.0) and add_up(leads)


@given(RESULTS)
def test_leads_add_up_and_are_the_difference(results: np.ndarray) -> None:
    leads = results.copy()
    replace_by_leads(leads)
    assert add_up(leads)
    assert np.allclose(2.0 * leads[:, 0] - 1.0, results[:, 0] - results[:, 1])


def test_roles_that_do_well_or_badly_together_do_not_fight() -> None:
    rng = np.random.default_rng(1)
    shared = rng.integers(0, 50, 500)
    assert not fight(np.stack([shared, shared + rng.integers(0, 5, 500)], axis=1).astype(np.int16))
    assert fight(rng.integers(0, 80, (500, 2)).astype(np.int16))
    # As far apart, but low: nobody is hurt unless both work for it.
    assert not fight((rng.random((500, 2)) < 0.1).astype(np.int16) * 100)
    # As far apart, but high: both have more to lose than to win.
    assert not fight(20 + rng.integers(0, 80, (500, 2)).astype(np.int16))


def test_a_search_plays_for_the_lead_where_roles_fight() -> None:
    search = run(search_of(network(WAR)), PLAYOUTS)
    assert search.rounds.leads.count and "lead" in search.news
    assert not search.rounds.may_prove, "leads of goals that do not add up prove nothing"
    assert not run(search_of(network(WAR), Tuning(lead=False)), PLAYOUTS).rounds.leads.count
    visits = search.statistics().visits
    assert int(visits[:2].sum()) < PLAYOUTS, "results from before the decision are gone"


def test_searches_with_other_seeds_decide_alike() -> None:
    machine = network(WAR)
    assert {run(search_of(machine, seed=seed), PLAYOUTS).rounds.leads.count for seed in range(5)} == {True}


def test_a_short_search_and_one_without_lanes_ask_nothing() -> None:
    assert run(search_of(network(WAR)), 200).rounds.leads.count is None
    assert run(search_of(make_machine(parse_rules(WAR, "a test"), "prover")), 200).rounds.leads.count is None


@pytest.mark.parametrize("game", ["connectfour", "breakthrough"])
def test_a_search_is_the_same_with_and_without_where_goals_add_up(game: str) -> None:
    tunings = Tuning(knowledge="off"), Tuning(knowledge="off", lead=False)
    first, second = (run(search_of(network(game), tuning), PLAYOUTS).statistics() for tuning in tunings)
    assert all(np.array_equal(a, b) for a, b in zip(first.visits, second.visits, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(first.totals, second.totals, strict=True))


@pytest.mark.parametrize(
    ("game", "fights"),
    [("skirmish", True), ("chineseCheckers2", True), ("gt_dollar", False), ("gt_centipede", False)],
)
def test_public_games_of_war_are_fights_and_those_of_trust_are_not(
    corpus: Path, game: str, fights: bool
) -> None:
    machine = network(Game.load(str(corpus / "games" / f"{game}.kif")).rules)
    assert bool(run(search_of(machine), PLAYOUTS).rounds.leads.count) == fights
