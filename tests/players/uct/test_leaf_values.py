"""A search values leaves by what is known of a game, and one of which nothing is known as it always did."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gdl.errors import GdlError
from gdl.rules import Rules
from gdl.scramble import scramble
from ggp.game import Game
from players.batch_machine import batch_machine_of
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import use
from players.knowledge.store import KnowledgeStore
from players.knowledge.training import Training
from players.uct.leaf_values import leaf_values
from players.uct.player import UctPlayer
from players.uct.root_statistics import RootStatistics, rank
from players.uct.search import Search
from players.uct.tuning import Tuning
from tests.machines import network
from tests.players.knowledge.test_values import GAMBLE
from tests.players.uct.searching import run, search_of


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache in which nothing is kept yet."""
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def trained() -> Training:
    """A little learnt of connect four."""
    rules = Game.load("connectfour").rules
    training = Training(network(rules), canonical_names(rules))
    for _ in range(5):
        training.round()
    return training


def _searched(rules: Rules, tuning: Tuning, playouts: int = 3000) -> tuple[Search, RootStatistics]:
    search = run(search_of(network(rules), tuning), playouts)
    return search, search.statistics()


def _same(first: RootStatistics, second: RootStatistics) -> bool:
    return np.array_equal(first.visits, second.visits) and np.array_equal(first.totals, second.totals)


def test_a_game_that_nothing_is_known_of_is_searched_as_without(cache: Path, trained: Training) -> None:
    rules = Game.load("hex").rules
    _, off = _searched(rules, Tuning(knowledge="off"))
    KnowledgeStore().put(replace(trained.knowledge("connectfour"), share=1.0))
    search, auto = _searched(rules, Tuning())
    assert _same(off, auto) and "learnt" not in search.news


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_leaves_of_a_scrambled_copy_are_valued_by_what_is_known(
    cache: Path, trained: Training, share: float
) -> None:
    rules, _ = scramble(Game.load("connectfour").rules, 4)
    _, off = _searched(rules, Tuning(knowledge="off"))
    KnowledgeStore().put(replace(trained.knowledge("connectfour"), share=share))
    search, with_it = _searched(rules, Tuning())
    assert f"learnt before ({share:.0%})" in search.news
    assert with_it.playouts == off.playouts and not _same(off, with_it)


def test_values_take_their_share_of_results(cache: Path, trained: Training) -> None:
    KnowledgeStore().put(replace(trained.knowledge("connectfour"), share=0.25))
    machine = network("connectfour")
    batched = batch_machine_of(machine)
    known = leaf_values(batched, Tuning(knowledge="auto", knowledge_share=None))
    assert known is not None and known.share == 0.25 and not known.alone
    records = machine.records([machine.initial_state()] * 3)
    results = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.25, 0.75]])
    value = trained.values.of(records[:1])[0]
    known.mix(results, np.array([0, 2, 3]), records, np.array([True, True, False]))
    assert np.allclose(results[0], 0.75 * np.array([1.0, 0.0]) + 0.25 * value, atol=1e-6)
    assert np.allclose(results[2], 0.75 * np.array([0.0, 1.0]) + 0.25 * value, atol=1e-6)
    assert results[1].tolist() == [0.5, 0.5] and results[3].tolist() == [0.25, 0.75]


def test_without_playouts_the_ends_of_matches_are_seen(cache: Path, trained: Training) -> None:
    """Tic-tac-toe is small: a search by values alone comes to know it whole, whatever the values are."""
    rules = Game.load("tictactoe").rules
    training = Training(network(rules), canonical_names(rules))
    training.round()
    KnowledgeStore().put(replace(training.knowledge("tictactoe"), share=1.0))
    search, statistics = _searched(rules, Tuning(trim=False), 200_000)
    assert search.tree.proven == 50 or statistics.value == 50


def test_all_moves_are_looked_at_where_training_found_that_better_or_it_is_asked_for(
    cache: Path, trained: Training
) -> None:
    batched = batch_machine_of(network("connectfour"))
    for looks in (False, True):
        KnowledgeStore().put(replace(trained.knowledge("connectfour"), share=1.0, looks=looks))
        for asked in (None, False, True):
            known = leaf_values(batched, Tuning(looks=asked))
            assert known is not None and known.looks == (looks if asked is None else asked)
            half = leaf_values(batched, Tuning(looks=asked, knowledge_share=0.5))
            assert half is not None and not half.looks


def test_the_share_and_the_options_say_whether_and_from_where_knowledge_is_used(
    cache: Path, tmp_path: Path, trained: Training
) -> None:
    known, other = trained.knowledge("connectfour"), tmp_path / "other"
    KnowledgeStore().put(known)
    KnowledgeStore(other).put(replace(known, share=0.25))
    batched = batch_machine_of(network("connectfour"))
    for knowledge, share, used in (
        ("auto", None, None),
        ("auto", 1.0, 1.0),
        ("off", 1.0, None),
        (str(other), None, 0.25),
    ):
        found = leaf_values(batched, Tuning(knowledge=knowledge, knowledge_share=share))
        assert (found and found.share) == used


def test_a_file_that_is_named_is_used_or_refused(tmp_path: Path, trained: Training) -> None:
    path = tmp_path / "connectfour.knowledge"
    path.write_bytes(trained.knowledge("connectfour").to_bytes())
    batched = batch_machine_of(network("connectfour"))
    assert leaf_values(batched, Tuning(knowledge=str(path), knowledge_share=1.0)) is not None
    with pytest.raises(GdlError, match="another game"):
        leaf_values(
            batch_machine_of(network("breakthrough")), Tuning(knowledge=str(path), knowledge_share=1.0)
        )
    path.write_bytes(b"nothing")
    with pytest.raises(GdlError):
        leaf_values(batched, Tuning(knowledge=str(path), knowledge_share=1.0))
    with pytest.raises(GdlError):
        leaf_values(batched, Tuning(knowledge=str(tmp_path / "missing"), knowledge_share=1.0))


@pytest.mark.parametrize(("columns", "wins"), [("abacad", "a"), ("gabacad", "a")])
def test_a_win_that_looks_see_at_once_is_played(
    tmp_path: Path, trained: Training, columns: str, wins: str
) -> None:
    """The root is proven before any path: a player once made a random move then."""
    path = tmp_path / "connectfour.knowledge"
    path.write_bytes(replace(trained.knowledge("connectfour"), share=1.0, looks=True).to_bytes())
    machine = network("connectfour")
    state, role = machine.initial_state(), len(columns) % 2
    for column in columns:
        state = state.play(f"(drop {column})")
    for seed in range(5):
        player = UctPlayer(seed=seed, knowledge=str(path))
        player.start(machine, role, state, 0.0, time.monotonic())
        move = player.choose(state, time.monotonic() + 5.0).move
        player.stop()
        assert str(machine.move(role, move)) == f"(drop {wins})"


@pytest.mark.parametrize("looks", [True, False])
def test_a_search_values_leaves_by_what_is_known_where_there_is_chance_too(
    tmp_path: Path, looks: bool
) -> None:
    machine = network(GAMBLE)
    training = Training(machine, canonical_names(machine.rules))
    for _ in range(60):
        training.round()
    path = tmp_path / "learnt.knowledge"
    path.write_bytes(training.knowledge("gamble").to_bytes())
    tuning = Tuning(knowledge=str(path), knowledge_share=1.0, looks=looks)
    search, statistics = _searched(machine.rules, tuning)
    assert f"leaves by knowledge learnt before ({use(1.0, looks)})" in search.news
    assert search._rounds is not None and search._rounds.values is not None
    assert search._rounds.values.looks == looks
    # In the order of text: risky, safe.
    assert statistics.visits.tolist()[0] > statistics.visits.tolist()[1] and rank(statistics, 0).best == 0
