"""What a startclock teaches is tried before it is used, for one match, and only where that makes sense."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.store import KnowledgeStore
from players.knowledge.training import Training
from players.uct.player import SequentialUctPlayer, UctPlayer
from players.uct.training import duel, startclock
from players.uct.training.duel import chance
from players.uct.training.startclock import StartclockLearner, StartclockLesson
from players.uct.tuning import Tuning
from propnet.build import build
from propnet.machine import PropnetMachine


def _machine(game: str) -> PropnetMachine:
    rules = Game.load(game).rules
    return PropnetMachine(rules, build(ground(rules)))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    return tmp_path


def _learn(machine: object, seconds: float, tuning: Tuning | None = None) -> StartclockLesson | None:
    learner = StartclockLearner()
    try:
        return learner.learn(machine, tuning or Tuning(), 1, time.monotonic() + seconds)  # type: ignore[arg-type]
    finally:
        learner.forget()


def test_nothing_is_learnt_where_it_makes_no_sense(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _machine("tictactoe")
    assert _learn(machine, startclock.LEAST_SECONDS - 5) is None
    monkeypatch.setattr(startclock, "LEAST_SECONDS", 0.5)
    assert _learn(machine, 1.0, Tuning(knowledge="off")) is None
    assert _learn(_machine("lightsout"), 1.0) is None
    assert _learn(Game.load("tictactoe").machine("prover"), 1.0) is None
    known = Training(machine, canonical_names(machine.rules)).knowledge("tictactoe")
    KnowledgeStore().put(replace(known, share=0.5))
    assert _learn(machine, 1.0) is None
    # What searches do not use keeps no startclock from learning.
    KnowledgeStore().put(known)
    assert _learn(machine, 1.0, Tuning(knowledge_share=0.5)) is None
    assert _learn(machine, 3.0) is not None


def test_games_that_are_over_or_stuck_when_they_begin_are_not_learnt(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startclock, "LEAST_SECONDS", 0.5)
    rest = "(role a) (role b) (legal b y) (goal a 50) (goal b 50) (init (n 0)) (<= (next (n 1)) (true (n 0)))"
    for more in (
        "(legal a x) (<= terminal (true (n 0)))",
        "(<= (legal a x) (true (n 1))) (<= terminal (true (n 1)))",
    ):
        rules = parse_rules(rest + more)
        assert _learn(PropnetMachine(rules, build(ground(rules))), 1.0) is None


def test_random_games_that_show_whether_results_add_up_fit_into_the_clock(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """512 games of 500 moves were once played before the first look at the clock."""
    monkeypatch.setattr(startclock, "LEAST_SECONDS", 0.5)
    monkeypatch.setattr(startclock, "_ROUND_SHARE", 100.0)
    monkeypatch.setattr(startclock, "_step_seconds", lambda machine, seed: 0.1)
    asked = []
    played = PropnetMachine.playouts

    def note(self: PropnetMachine, *arguments: int, **more: int) -> object:
        asked.append(more["max_steps"])
        return played(self, *arguments, **more)

    monkeypatch.setattr(PropnetMachine, "playouts", note)
    assert _learn(_machine("tictactoe"), 3.0) is not None
    assert asked == [20]


def test_a_lesson_is_a_file_that_searches_can_use(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startclock, "LEAST_SECONDS", 0.5)
    machine = _machine("tictactoe")
    learner = StartclockLearner()
    lesson = learner.learn(machine, Tuning(), 1, time.monotonic() + 3)
    assert lesson is not None and lesson.moves > 0
    # Perfect play draws: no share can be better.
    assert lesson.share == 0.0 and "not used" in str(lesson)
    known = GameKnowledge.from_bytes(lesson.path.read_bytes())
    assert known.fingerprint == canonical_names(machine.rules).fingerprint and known.moves == lesson.moves
    learner.forget()
    assert not lesson.path.exists()


@pytest.mark.slow
def test_what_is_better_is_learnt_more_of_until_the_clock_ends(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startclock, "LEAST_SECONDS", 0.5)
    monkeypatch.setattr(startclock, "_WORTHWHILE", 0.0)
    monkeypatch.setattr(startclock, "_BEFORE", 0.0)
    tried: list[GameKnowledge] = []

    def better(
        machine: object, known: GameKnowledge, uses: object, path: Path, *_: object
    ) -> StartclockLesson:
        tried.append(known)
        return StartclockLesson(1.0, known.moves, 6, 6, path, True)

    monkeypatch.setattr(startclock, "_tried", better)
    learner = StartclockLearner()
    lesson = learner.learn(_machine("tictactoe"), Tuning(), 1, time.monotonic() + 6, 2)
    assert lesson is not None and lesson.share == 1.0 and lesson.moves > tried[0].moves > 0
    known = GameKnowledge.from_bytes(lesson.path.read_bytes())
    assert known.moves == lesson.moves
    assert (known.weights != tried[0].weights).any()
    learner.forget()


@pytest.mark.parametrize(
    ("later", "stays"), [([1, 1, 1, -1], True), ([1, 1, -1, -1], False), ([-1, -1], False), ([1, -1], True)]
)
def test_what_is_better_in_short_matches_has_to_win_longer_ones(
    later: list[int], stays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clocks: list[float] = []
    pairs = startclock._Pairs(_machine("tictactoe"), Tuning(), Tuning(), 1, time.monotonic() + 60)
    pairs.leads = [1] * 6
    told = [later[at : at + 2] for at in range(0, len(later), 2)]

    def play(move_seconds: float) -> bool:
        clocks.append(move_seconds)
        pairs.leads += told.pop(0)
        return True

    monkeypatch.setattr(pairs, "play", play)
    monkeypatch.setattr(pairs, "time_for", lambda seconds: bool(told))
    assert startclock._stays_better(pairs) == stays
    assert clocks == [startclock._MOVE_SECONDS * 2 ** (number + 1) for number in range(len(clocks))]
    assert not told


def test_a_pair_that_the_deadline_ends_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    results = [[100, 0], [0, 100], [100, 0], None]
    monkeypatch.setattr(duel, "play", lambda *_: results.pop(0))
    pairs = startclock._Pairs(_machine("tictactoe"), Tuning(), Tuning(), 1, time.monotonic() + 60)
    assert pairs.play(0.02) and pairs.leads in ([1, 1], [-1, -1])
    assert not pairs.play(0.02) and len(pairs.leads) == 2
    # No longer match came to its end: what the short ones have shown stands.
    pairs.leads = [1, 1, 1, 1, 0, 0, 0, 1]
    results.append(None)
    monkeypatch.setattr(pairs, "time_for", lambda seconds: True)
    assert startclock._stays_better(pairs)


def test_slow_games_have_fewer_matches_side_by_side_or_no_searches() -> None:
    found = [startclock._fitting(seconds) for seconds in (0.0001, 0.002, 0.004, 0.008, 0.05)]
    assert found == sorted(found, reverse=True) and found[0] == startclock._LANES[0] and found[-1] == 0
    assert len(set(found)) == 5


def test_games_that_take_long_to_step_are_left_alone(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startclock, "LEAST_SECONDS", 0.5)
    monkeypatch.setattr(startclock, "_SLOWEST", 0.0)
    assert _learn(_machine("tictactoe"), 1.0) is None


@pytest.mark.parametrize(
    ("wins", "losses", "better"), [(6, 0, True), (5, 0, False), (8, 1, True), (0, 0, False), (10, 6, False)]
)
def test_a_share_is_better_where_chance_is_not(wins: int, losses: int, better: bool) -> None:
    assert (chance(wins, losses) <= startclock.CHANCE) is better


def test_a_player_uses_what_was_better_for_one_match(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = _machine("connectfour")
    training = Training(machine, canonical_names(machine.rules))
    training.round()
    path = tmp_path / "learnt.knowledge"
    path.write_bytes(training.knowledge("connectfour").to_bytes())
    lesson = StartclockLesson(1.0, 10, 6, 6, path)
    lessons = [lesson, replace(lesson, share=0.0), None]
    monkeypatch.setattr(StartclockLearner, "learn", lambda *_: lessons.pop(0))
    monkeypatch.setattr("players.uct.player.LEAST_SECONDS", 0.1)
    monkeypatch.setattr("players.uct.player._FIRST_LOOK_SECONDS", 0.1)
    player = UctPlayer()
    told: list[str] = []
    player.found_out = told.append
    used = []
    for _ in range(3):
        player.start(machine, 0, machine.initial_state(), 0.0, time.monotonic() + 1.0)
        search = player._search
        assert search is not None and ("learnt before (100%)" in search.news) is (not used)
        used.append((player._tuning.knowledge, player._tuning.knowledge_share))
        player.stop()
    assert used == [(str(path), 1.0), ("auto", None), ("auto", None)]
    lines = [line for line in told if "startclock" in line]
    assert len(lines) == 2 and lines[0].endswith("used (100%)") and lines[1].endswith("not used")


def test_where_no_file_can_be_written_nothing_is_learnt(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("players.uct.training.startclock.LEAST_SECONDS", 0.5)
    monkeypatch.setattr("players.uct.player.LEAST_SECONDS", 0.1)
    monkeypatch.setattr("players.uct.player._FIRST_LOOK_SECONDS", 0.1)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    monkeypatch.setattr(startclock, "_step_seconds", lambda machine, seed: 0.001)
    machine = _machine("connectfour")
    player = UctPlayer()
    told: list[str] = []
    player.found_out = told.append
    player.start(machine, 0, machine.initial_state(), 0.0, time.monotonic() + 3.0)
    state = machine.initial_state()
    assert player.choose(state, time.monotonic() + 0.3).move in machine.legal_moves(state, 0)
    player.stop()
    assert any("nothing is learnt in the startclock" in line for line in told)


def test_what_a_search_finds_at_once_is_not_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = _machine("tictactoe")
    asked = []
    monkeypatch.setattr(StartclockLearner, "learn", lambda *_: asked.append(1))
    monkeypatch.setattr("players.uct.player._FIRST_LOOK_SECONDS", 30.0)
    player = UctPlayer()
    player.start(machine, 0, machine.initial_state(), 0.0, time.monotonic() + 300)
    player.stop()
    assert not asked


def test_a_player_that_is_not_to_learn_does_not() -> None:
    for player in (UctPlayer(knowledge="off"), UctPlayer(playouts=100), SequentialUctPlayer()):
        assert player._learner is None
    assert UctPlayer()._learner is not None


def test_greedy_rounds_fit_into_the_clock(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of 256 matches was once begun whatever a move took: three times a clock of 20 s."""
    machine = _machine("tictactoe")
    training = Training(machine, canonical_names(machine.rules))
    lanes = []
    for seconds in (0.0001, 0.02, 0.3):
        training.fit(seconds)
        lanes.append(training._play.lanes)
    assert lanes == [256, 128, 32]
    monkeypatch.setattr(startclock, "_step_seconds", lambda machine, seed: 0.11)
    assert _learn(machine, startclock.LEAST_SECONDS) is None
