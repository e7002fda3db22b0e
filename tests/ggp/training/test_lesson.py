"""A game is learnt in two parts, tried, kept, carried elsewhere, and gone on with after a kill."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training import lesson as lessons
from ggp.training.lesson import Lesson, LessonTerms
from ggp.training.report import training_report, worth_of_squares
from ggp.training.trial import TrialTerms, TrialVerdict, hold_trial, interval, summary, worth
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.state_values import StateValues
from players.knowledge.store import KnowledgeStore
from players.knowledge.training import Training, TrainingProgress
from players.uct.training.play_processes import SearchedTraining
from propnet.recoding.samples import sample_states
from tests.ggp.program import ggp
from tests.machines import network
from tests.waiting import until


def _lesson(folder: Path, game: str = "tictactoe", pairs: int = 0, seconds: float = 0.3) -> Lesson:
    machine = network(Game.load(game).rules)
    terms = LessonTerms(seconds, 60.0, pairs, 0.01, 1)
    return Lesson(machine, machine, "my game!", KnowledgeStore(folder), terms, lambda line: None)


def _trials(monkeypatch: pytest.MonkeyPatch, *better: bool) -> list[str]:
    """Let trials have these outcomes. Returns what is tried against what."""
    tried: list[str] = []
    outcomes = iter(better)

    def hold(_: object, known: GameKnowledge, below: GameKnowledge | None, __: object) -> object:
        tried.append(f"{known.model} {below.model if below else '-'}")
        found = next(outcomes)
        verdict = TrialVerdict(known.model, "-", 0.5, False, Tally(9, 0, 1), found, True)
        return [verdict], replace(known, share=0.5 if found else 0.0)

    monkeypatch.setattr(lessons, "hold_trial", hold)
    return tried


@pytest.mark.parametrize(
    ("better", "against", "model"),
    [
        ((True, True), "net linear", "net"),
        ((True, False), "net linear", "linear"),
        ((False, True), "net -", "net"),
        ((False, False), "net -", ""),
    ],
)
def test_searches_use_what_a_trial_found_better(
    better: tuple[bool, bool], against: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = _trials(monkeypatch, *better)
    lesson = _lesson(tmp_path, pairs=1)
    learnt = lesson.run()
    assert tried == ["linear -", against] and list(lesson.courses) == ["linear", "net"]
    kept = KnowledgeStore(tmp_path).get(learnt.fingerprint)
    assert kept is not None and kept.net is not None and kept.to_bytes() == learnt.to_bytes()
    assert (kept.share > 0.0, kept.model) == (bool(model), model or "net")


def test_a_net_learns_on_and_is_used_as_before_if_its_trial_shows_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = _trials(monkeypatch, True, True, False)
    first = _lesson(tmp_path, pairs=1).run()
    again = _lesson(tmp_path, pairs=1)
    learnt = again.run()
    assert tried == ["linear -", "net linear", "net -"] and list(again.courses) == ["net"]
    assert learnt.moves > first.moves and learnt.share == 0.5 and learnt.game == "my-game-"
    assert np.array_equal(learnt.weights, first.weights)


def test_an_unused_net_learns_on_against_the_linear_weights_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = _trials(monkeypatch, True, False, True)
    assert _lesson(tmp_path, pairs=1).run().model == "linear"
    assert _lesson(tmp_path, pairs=1).run().model == "net"
    assert tried[2] == "net linear"


def test_fresh_forgets_what_was_learnt(tmp_path: Path) -> None:
    first = _lesson(tmp_path).run()
    again = _lesson(tmp_path)
    again._terms = replace(again._terms, fresh=True, seconds=0.1)
    assert again.run().seconds < first.seconds + 10.0 and "linear" in again.courses


@pytest.mark.parametrize("game", ["tictactoe", "biddingtictactoe"])
def test_self_play_is_by_searches_after_a_while_where_two_roles_choose_in_turn(
    game: str, tmp_path: Path
) -> None:
    lesson = _lesson(tmp_path, game, seconds=2.0)
    assert lesson.run().moves > 0
    assert isinstance(lesson._training, SearchedTraining) == (game == "tictactoe")


def test_a_copy_that_names_its_roles_the_other_way_round_is_learnt_on(tmp_path: Path) -> None:
    rules = Game.load("tictactoe").text
    first, second = re.findall(r"\(role \w+\)", rules)
    copy = tmp_path / "copy.kif"
    copy.write_text(rules.replace(first, "@").replace(second, first).replace("@", second))
    known = _lesson(tmp_path).run()
    machine = network(Game.load(str(copy)).rules)
    names = canonical_names(machine.rules)
    assert known.fingerprint == names.fingerprint
    lesson = _lesson(tmp_path, str(copy))
    turned = lesson._turned(known)
    assert turned is not None and turned.columns == (names.key(machine.roles[0]),) != known.columns
    states = sample_states(machine, 100, 1)
    before, after = (StateValues.of_game(each, names, machine).of(states) for each in (known, turned))
    assert np.abs(before - after).max() < max(1e-3, before.std() / 10)
    assert lesson.run().moves > known.moves


def test_a_training_that_is_killed_goes_on_from_what_it_kept(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path / "knowledge")
    script = (
        "import sys; from pathlib import Path\n"
        "from ggp.training import lesson\n"
        "from tests.ggp.training.test_lesson import _lesson\n"
        "lesson.SAVE_SECONDS = 0.2\n"
        "_lesson(Path(sys.argv[1]), seconds=600).run()\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(store.directory)])
    try:
        until(lambda: next(store.fingerprints(), None) is not None)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    (fingerprint,) = store.fingerprints()
    kept = store.get(fingerprint)
    assert kept is not None and kept.moves > 0
    assert _lesson(store.directory).run().moves > kept.moves


def test_a_trial_that_shows_nothing_leaves_knowledge_unused(tmp_path: Path) -> None:
    learnt = _lesson(tmp_path).run()
    machine = Game.load("tictactoe").machine("propnet")
    terms = TrialTerms(0.01, 1, time.monotonic() + 60, 1, lambda *_: None)
    verdicts, known = hold_trial(machine, learnt, replace(learnt, share=0.5), terms)
    assert [verdict.score.games for verdict in verdicts] == [2, 2, 2]
    assert [(verdict.share, verdict.looks) for verdict in verdicts] == [
        (1.0, True),
        (1.0, False),
        (0.5, False),
    ]
    assert known.share == 0.0 and not known.looks and known.record.seconds == 0.01


@pytest.mark.slow
def test_games_of_three_roles_are_tried_with_one_against_two(tmp_path: Path) -> None:
    learnt = _lesson(tmp_path, "chinesecheckers", seconds=0.1).run()
    assert len(learnt.columns) == 3
    terms = TrialTerms(0.01, 1, time.monotonic() + 60, 1, lambda *_: None)
    verdicts, _ = hold_trial(Game.load("chinesecheckers").machine("propnet"), learnt, None, terms)
    assert [verdict.share for verdict in verdicts] == [1.0, 0.5] and verdicts[0].score.games == 2


@pytest.mark.parametrize(
    ("result", "pairs", "games", "better", "decided"),
    [
        ((1.0, 1.0), 4, 8, True, True),
        ((1.0, 1.0), 3, 6, False, False),
        ((1.0, 0.0), 4, 8, False, False),
        ((1.0, 1.0), 50, 10, True, True),  # a series of wins ends it
        (
            (0.0, 0.0),
            50,
            6,
            False,
            True,
        ),  # one of losses sooner: chess tried until it had lost eight of eight
    ],
)
def test_a_use_is_kept_if_chance_seldom_brings_so_many_wins(
    result: tuple[float, float],
    pairs: int,
    games: int,
    better: bool,
    decided: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    learnt = _lesson(tmp_path, seconds=0.05).run()
    monkeypatch.setattr("players.uct.training.duel.play_pair", lambda *_: result)
    machine = Game.load("tictactoe").machine("propnet")
    terms = TrialTerms(0.01, pairs, time.monotonic() + 60, 1, lambda *_: None)
    verdicts, found = hold_trial(machine, learnt, None, terms)
    assert (verdicts[0].score.games, verdicts[0].better, verdicts[0].decided) == (games, better, decided)
    assert bool(found.share) == better
    late = replace(terms, deadline=time.monotonic() - 1)
    verdicts, found = hold_trial(machine, learnt, None, late)
    assert not any(verdict.score.games or verdict.decided for verdict in verdicts) and not found.share


def _ggp(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ggp(*arguments, GGP_CACHE=str(cache))


def _own(listed: str) -> list[dict[str, Any]]:
    """The rows of what was learnt here, without what comes along."""
    rows = [orjson.loads(line) for line in listed.splitlines()]
    return [row for row in rows if not row["bundled"]]


@pytest.mark.slow
def test_a_game_is_trained_listed_shown_and_carried_to_another_cache(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    seconds = "--minutes", "0.02", "--trial-minutes", "0.02", "--move-seconds", "0.01"
    trained = _ggp(here, "train", "tictactoe", *seconds, "--json")
    assert trained.returncode == 0, trained.stderr
    outcome = orjson.loads(trained.stdout)
    tried = [(trial["model"], trial["share"], trial["looks"]) for trial in outcome["trials"]]
    uses = (1.0, True), (1.0, False), (0.5, False)
    assert tried == [(model, *use) for model in ("linear", "net") for use in uses]
    # A few pairs decide nothing: what was learnt is kept, but not used.
    assert re.fullmatch(r"The trials \(\d+ matches\) were too few to say .* did best, .*\.", outcome["worth"])
    assert outcome["moves"] > 0 and outcome["share"] == 0.0
    assert not any(trial["better"] for trial in outcome["trials"])
    (row,) = _own(_ggp(here, "knowledge", "list", "--json").stdout)
    assert row["fingerprint"] == outcome["fingerprint"] and row["moves"] == outcome["moves"]

    scrambled = tmp_path / "other.kif"
    scrambled.write_text(_ggp(here, "scramble", "tictactoe").stdout)
    shown = _ggp(here, "knowledge", "show", str(scrambled))
    assert shown.returncode == 0 and len(shown.stdout.splitlines()) > 5

    file = tmp_path / "t.knowledge"
    assert _ggp(here, "knowledge", "export", "tictactoe", "-o", str(file)).returncode == 0
    assert _ggp(there, "knowledge", "import", str(file)).returncode == 0
    listed = _ggp(there, "knowledge", "list", "--json").stdout
    assert listed and listed == _ggp(here, "knowledge", "list", "--json").stdout
    refused = _ggp(there, "knowledge", "import", str(file))
    assert refused.returncode == 2 and "--force" in refused.stderr
    assert _ggp(there, "knowledge", "import", str(file), "--force").returncode == 0
    # While one process learns a game no other one changes what is known of it.
    store = KnowledgeStore(there / "knowledge")
    with store.alone(row["fingerprint"]):
        for command in ("train", "tictactoe", "--minutes", "0"), ("knowledge", "import", str(file)):
            assert "another process" in _ggp(there, *command).stderr
    assert _ggp(there, "knowledge", "remove", row["fingerprint"][:12]).returncode == 0
    assert not _own(_ggp(there, "knowledge", "list", "--json").stdout)
    assert next(store.fingerprints(), None) is None

    kept = here / "knowledge" / row["fingerprint"]
    kept.write_bytes(kept.read_bytes()[:-5])
    broken = _ggp(here, "knowledge", "list")
    assert broken.returncode == 1 and "damaged" in broken.stderr and "Traceback" not in broken.stderr
    file.write_bytes(b"\x80\x04import os")
    refused = _ggp(here, "knowledge", "import", str(file))
    assert refused.returncode != 0 and "not knowledge of a game" in refused.stderr


@pytest.mark.slow
def test_what_cannot_be_done_is_told(tmp_path: Path) -> None:
    for arguments, told in [
        (("knowledge", "learn"), "nothing to do"),
        (("knowledge", "show"), "needs a game"),
        (("knowledge", "show", "hex"), "ggp train hex"),
        (("train", "lightsout", "--minutes", "0"), "several roles"),
    ]:
        result = _ggp(tmp_path, *arguments)
        assert result.returncode != 0 and told in result.stderr and "Traceback" not in result.stderr


# --- A training's page stands alone, and shows squares as they lie on the board
def test_squares_are_where_the_rules_order_them() -> None:
    machine = network("breakthrough")
    names = canonical_names(machine.rules)
    known = Training(machine, names).knowledge("breakthrough")
    features = Features.of(machine.network.bases, names)
    weights = np.zeros_like(known.weights)
    base = next(i for i, term in enumerate(machine.network.bases) if str(term) == "(cell c 5 white)")
    own = features.feature[features.start[base] : features.start[base + 1]]
    alone = [f for f in own.tolist() if np.count_nonzero(features.feature == f) == 1]
    weights[alone] = 1.0
    boards = worth_of_squares(machine, replace(known, weights=weights))
    assert set(boards) == {"white", "black"}
    board = boards["white"]
    assert board.shape == (8, 8) and board[4, 2] > 0 and np.count_nonzero(np.nan_to_num(board)) == 1
    assert not np.nan_to_num(boards["black"]).any()


def test_the_page_has_the_course_the_matches_and_the_board() -> None:
    machine = network("connectfour")
    known = Training(machine, canonical_names(machine.rules)).knowledge("connectfour")
    progress = TrainingProgress(100, 5, 0.25, 0.5, 1000)
    trial = TrialVerdict("linear", "no knowledge", 0.5, False, Tally(7, 1, 2), True, True)
    page = training_report("<four>", machine, known, {"linear": [(5.0, progress)]}, [trial])
    assert "&lt;four&gt;" in page and "<four>" not in page
    assert (
        page.count("<table>") >= 4
        and "7.5 of 10 points" in page
        and "<p>Training was worth it: linear got 7.5 of 10 points" in page
        and "http" not in page
    )
    assert "yellow" in page
    assert training_report("four", machine, known, {}, []).count("background: rgb(") == 84


# --- Whether training was worth it, in one sentence that claims no more than the matches show
MACHINE = network("tictactoe")
KNOWN = Training(MACHINE, canonical_names(MACHINE.rules)).knowledge("tictactoe")
UNUSED = replace(KNOWN, share=0.0)
tallies = st.builds(Tally, *[st.integers(0, 40).map(float)] * 3)


def test_two_lost_matches_have_no_interval_and_many_have_one() -> None:
    assert summary(Tally(0, 0, 2)) == "0 of 2 points (0 won, 0 drawn, 2 lost)"
    assert summary(Tally(30, 4, 10)).endswith("10 lost; 95 % interval 58% to 84%)")


@given(tallies)
def test_an_interval_that_is_told_says_something(score: Tally) -> None:
    low, high = interval(score)
    assert ("95 % interval" in summary(score)) == (high - low <= 0.5)


def test_without_a_trial_nothing_is_known() -> None:
    none = "Whether training was worth it is not known: there was no trial."
    assert worth(UNUSED, []) == none
    assert worth(UNUSED, [TrialVerdict("linear", "no knowledge", 1.0, False, Tally(), False, False)]) == none


def test_a_few_matches_are_too_few() -> None:
    trials = [TrialVerdict("linear", "no knowledge", 1.0, False, Tally(0, 0, 2), False, False)] * 5
    text = worth(UNUSED, trials)
    assert text == (
        "The trials (10 matches) were too few to say whether training was worth it;"
        " linear did best, 0 of 2 points (0 won, 0 drawn, 2 lost) against no knowledge."
    )


@given(st.lists(st.tuples(tallies, st.booleans(), st.booleans()), max_size=5))
def test_it_is_worth_it_exactly_where_a_trial_was_better(found: list[tuple[Tally, bool, bool]]) -> None:
    trials = [
        TrialVerdict("net", "linear", 1.0, False, score, better and score.games > 0, decided or better)
        for score, better, decided in found
    ]
    text = worth(UNUSED, trials)
    held = [verdict for verdict in trials if verdict.score.games]
    assert text.startswith("Training was worth it") == any(verdict.better for verdict in held)
    assert text.startswith("Training was not worth it") == (
        bool(held) and all(verdict.decided and not verdict.better for verdict in held)
    )
    assert text.count(".") == text.count(".5 of") + 1
    assert text.endswith(".")
