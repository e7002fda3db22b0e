"""A game is learnt from the command line, tried, kept, carried elsewhere, and gone on with after a kill."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import orjson
import pytest

from gdl.errors import GdlError
from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training import ladder as lessons
from ggp.training.ladder import ON, Lesson, lane_machine_of
from ggp.training.trial import TEST, TrialTerms, TrialVerdict, best_of, hold_trial, try_share
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.state_values import StateValues
from players.knowledge.store import KnowledgeStore
from players.uct.training.searched_training import SearchedTraining
from propnet.recoding.samples import sample_states
from tests.ggp.program import ggp


def _ggp(cache: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ggp(*arguments, GGP_CACHE=str(cache))


@pytest.mark.slow
def test_a_game_is_trained_listed_shown_and_carried_to_another_cache(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    seconds = "--minutes", "0.02", "--trial-minutes", "0.02", "--move-seconds", "0.01"
    trained = _ggp(here, "train", "tictactoe", *seconds, "--json")
    assert trained.returncode == 0, trained.stderr
    outcome = orjson.loads(trained.stdout)
    assert outcome["moves"] > 0
    tried = [(trial["model"], trial["share"], trial["looks"]) for trial in outcome["trials"]]
    uses = (1.0, True), (0.5, False), (1.0, False)
    *ladder, last = dict.fromkeys(model for model, *_ in tried)
    assert tried == [(model, *use) for model in (*ladder, last) for use in uses]
    assert ladder == ["linear", "net"] and last.removesuffix(ON) in ladder
    # One pair decides nothing: what was learnt is kept, but not used.
    assert "95 % interval" not in trained.stderr
    assert re.fullmatch(
        r"The trials \(\d+ matches\) were too few to say whether training was worth it; "
        r"[a-z ]+ did best, .*\.",
        outcome["worth"],
    )
    assert outcome["share"] == 0.0 and not any(trial["better"] for trial in outcome["trials"])
    row, *others = map(orjson.loads, _ggp(here, "knowledge", "list", "--json").stdout.splitlines())
    assert row["fingerprint"] == outcome["fingerprint"] and row["moves"] == outcome["moves"]
    assert [other["model"] for other in others] == ["net"]

    scrambled = tmp_path / "other.kif"
    scrambled.write_text(_ggp(here, "scramble", "tictactoe").stdout)
    shown = _ggp(here, "knowledge", "show", str(scrambled))
    assert shown.returncode == 0 and len(shown.stdout.splitlines()) > 5

    file = tmp_path / "t.knowledge"
    assert _ggp(here, "knowledge", "export", "tictactoe", "-o", str(file)).returncode == 0
    assert _ggp(there, "knowledge", "import", str(file)).returncode == 0
    assert _ggp(there, "knowledge", "verify").returncode == 0
    listed = _ggp(there, "knowledge", "list", "--json").stdout
    assert _ggp(here, "knowledge", "list", "--json").stdout.startswith(listed) and listed
    # What was learnt from fewer moves, what would not be used in place of what is, and another rung stay out.
    store = KnowledgeStore(there / "knowledge")
    known = store.get(row["fingerprint"])
    assert known is not None
    for before, told in [
        (replace(known, moves=known.moves + 1), "learnt from"),
        (replace(known, share=0.5), "would not use"),
    ]:
        store.put(before)
        refused = _ggp(there, "knowledge", "import", str(file))
        assert refused.returncode == 2 and re.search(told, refused.stderr) and "--force" in refused.stderr
    file.write_bytes(replace(known, share=1.0).to_bytes())
    net = KnowledgeStore(here / "knowledge").rung("net").get(row["fingerprint"])
    assert net is not None
    store.put(replace(net, share=1.0))
    assert "rung net" in _ggp(there, "knowledge", "import", str(file)).stderr
    assert _ggp(there, "knowledge", "import", str(file), "--force").returncode == 0
    assert [each.model for each in store.rungs(row["fingerprint"])] == ["linear", "net"]
    # While one process learns a game no other one changes what is known of it.
    with store.alone(row["fingerprint"]):
        for command in ("train", "tictactoe", "--minutes", "0"), ("knowledge", "import", str(file)):
            assert "another process" in _ggp(there, *command).stderr
    assert _ggp(there, "knowledge", "remove", row["fingerprint"][:12]).returncode == 0
    assert _ggp(there, "knowledge", "list").stdout == "" and store.rungs(row["fingerprint"]) == []
    assert _ggp(there, "knowledge", "import", str(file)).returncode == 0

    assert {path.name for path in (here / "knowledge" / "net").iterdir()} == {row["fingerprint"]}
    kept = there / "knowledge" / row["fingerprint"]
    kept.write_bytes(kept.read_bytes()[:-5])
    broken = _ggp(there, "knowledge", "verify")
    assert broken.returncode == 1 and "damaged" in broken.stderr and "Traceback" not in broken.stderr
    file.write_bytes(b"\x80\x04import os")
    refused = _ggp(there, "knowledge", "import", str(file))
    assert refused.returncode != 0 and "not knowledge of a game" in refused.stderr


@pytest.mark.slow
def test_what_cannot_be_done_is_told(tmp_path: Path) -> None:
    for arguments, told in [
        (("knowledge", "learn"), "nothing to do"),
        (("knowledge", "show"), "needs a game"),
        (("knowledge", "show", "hex"), "ggp train hex"),
        (("train", "lightsout", "--minutes", "0"), "several roles"),
        (("train", "tictactoe", "--model", "deep"), "linear, net, auto"),
    ]:
        result = _ggp(tmp_path, *arguments)
        assert result.returncode != 0 and told in result.stderr and "Traceback" not in result.stderr


def test_a_training_that_is_killed_goes_on_from_what_it_kept(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path / "knowledge")
    script = (
        "import sys; from pathlib import Path\n"
        "from ggp.training import ladder\n"
        "from ggp.game import Game\n"
        "from players.knowledge.store import KnowledgeStore\n"
        "ladder.SAVE_SECONDS = 0.2\n"
        "machine = ladder.lane_machine_of(Game.load('tictactoe').machine('propnet'))\n"
        "ladder.Lesson(machine, 'tictactoe', KnowledgeStore(Path(sys.argv[1]))).learn(600, print)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(store.directory)])
    try:
        limit = time.monotonic() + 120
        while store.empty and time.monotonic() < limit:
            time.sleep(0.05)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    machine = lane_machine_of(Game.load("tictactoe").machine("propnet"))
    lesson = Lesson(machine, "tictactoe", store)
    assert lesson.knowledge is not None and lesson.knowledge.moves > 0
    lesson.learn(0.2, lambda *_: None)
    assert store.get(lesson.knowledge.fingerprint).moves > 0  # type: ignore[union-attr]
    assert lesson.training.progress.moves > lesson.knowledge.moves - 1


def _trained(game: str, folder: Path, model: str = "linear", seconds: float = 2.0) -> Lesson:
    machine = lane_machine_of(Game.load(game).machine("propnet"))
    lesson = Lesson(machine, game, KnowledgeStore(folder), model=model)
    lesson.learn(seconds, lambda *_: None)
    return lesson


@pytest.mark.parametrize("game", ["tictactoe", "biddingtictactoe"])
def test_self_play_is_by_searches_after_a_while_where_two_roles_choose_in_turn(
    game: str, tmp_path: Path
) -> None:
    in_turn = game == "tictactoe"
    lesson = _trained(game, tmp_path)
    assert isinstance(lesson.training, SearchedTraining) == in_turn
    assert lesson.knowledge is not None and lesson.knowledge.moves > 0
    # What is gone on with begins where it was.
    again = Lesson(lane_machine_of(Game.load(game).machine("propnet")), game, KnowledgeStore(tmp_path))
    assert isinstance(again.training, SearchedTraining) == in_turn
    again.training.close()


def test_a_net_stands_on_the_linear_weights_that_are_kept(tmp_path: Path) -> None:
    linear = _trained("tictactoe", tmp_path, seconds=0.5).knowledge
    net = _trained("tictactoe", tmp_path, "net", 0.5).knowledge
    assert linear is not None and net is not None and net.net is not None
    assert np.array_equal(net.weights, linear.weights)


def test_what_was_decided_stays_while_more_is_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lessons, "SAVE_SECONDS", 0.0)
    store = KnowledgeStore(tmp_path)
    lesson = Lesson(lane_machine_of(Game.load("tictactoe").machine("propnet")), "my game!", store)
    lesson.learn(0.1, lambda *_: None)
    assert (
        lesson.knowledge is not None and lesson.knowledge.game == "my-game-" and lesson.knowledge.share == 0.0
    )
    lesson.decide(0.5, lesson.knowledge)
    lesson.learn(0.1, lambda *_: None)
    assert lesson.knowledge.share == 0.5


@pytest.mark.parametrize("model", ["linear", "net"])
def test_a_copy_that_names_its_roles_the_other_way_round_is_learnt_on(model: str, tmp_path: Path) -> None:
    rules = Game.load("tictactoe").text
    first, second = re.findall(r"\(role \w+\)", rules)
    copy = tmp_path / "copy.kif"
    copy.write_text(rules.replace(first, "@").replace(second, first).replace("@", second))
    known = _trained("tictactoe", tmp_path, model, 0.5).knowledge
    machine = lane_machine_of(Game.load(str(copy)).machine("propnet"))
    names = canonical_names(machine.rules)
    lesson = Lesson(machine, "copy", KnowledgeStore(tmp_path), model=model)
    assert known is not None and lesson.knowledge is not None and known.fingerprint == names.fingerprint
    assert lesson.knowledge.columns == (names.key(machine.roles[0]),) != known.columns
    states = sample_states(machine, 100, 1)
    before, after = (
        StateValues.of_game(each, names, machine).of(states) for each in (known, lesson.knowledge)
    )
    assert np.abs(before - after).max() < before.std() / 10
    lesson.learn(0.5, lambda *_: None)
    assert lesson.knowledge is not None and lesson.knowledge.moves > known.moves


def test_a_rung_that_is_better_takes_the_place_of_the_one_below(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path)
    machine = lane_machine_of(Game.load("tictactoe").machine("propnet"))
    linear = Lesson(machine, "tictactoe", store)
    linear.learn(0.1, lambda *_: None)
    assert linear.knowledge is not None
    linear.decide(0.5, linear.knowledge)
    fingerprint = linear.knowledge.fingerprint
    net = Lesson(machine, "tictactoe", store, model="net")
    net.learn(0.1, lambda *_: None)
    assert net.knowledge is not None and net.knowledge.share == 0.0

    def model() -> str:
        used = store.get(fingerprint)
        assert used is not None
        return used.model

    net.decide(0.0, net.knowledge)
    assert model() == "linear"
    assert Lesson(machine, "tictactoe", store, model="net").knowledge is not None
    net.decide(1.0, net.knowledge)
    assert model() == "net"
    below = Lesson(machine, "tictactoe", store).knowledge
    assert below is not None and below.model == "linear" and below.share == 0.5
    assert [known.model for known in store.rungs(fingerprint)] == ["net", "linear"]


def test_a_trial_that_shows_nothing_leaves_knowledge_unused(tmp_path: Path) -> None:
    machine = lane_machine_of(Game.load("tictactoe").machine("propnet"))
    lesson = Lesson(machine, "tictactoe", KnowledgeStore(tmp_path))
    lesson.learn(0.1, lambda *_: None)
    assert lesson.knowledge is not None
    terms = TrialTerms(0.01, 1, time.monotonic() + 60, 1, lambda *_: None)
    verdicts, known = hold_trial(machine, lesson.knowledge, lesson.knowledge, terms)
    assert [verdict.score.games for verdict in verdicts] == [2, 2, 2]
    assert [verdict.use for verdict in verdicts] == ["100%, with looks", "50%", "100%"]
    assert known.share == 0.0 and not known.looks and known.record.seconds == 0.01


@pytest.mark.slow
def test_games_of_three_roles_are_tried_with_one_against_two(tmp_path: Path) -> None:
    machine = lane_machine_of(Game.load("chinesecheckers").machine("propnet"))
    lesson = Lesson(machine, "chinesecheckers", KnowledgeStore(tmp_path))
    lesson.learn(0.1, lambda *_: None)
    assert lesson.knowledge is not None and len(lesson.knowledge.columns) == 3
    terms = TrialTerms(0.01, 1, time.monotonic() + 60, 1, lambda *_: None)
    verdicts, _ = hold_trial(machine, lesson.knowledge, None, terms)
    assert [verdict.use for verdict in verdicts] == ["50%", "100%"]
    assert verdicts[0].score.games == 2


def test_only_a_share_that_is_better_by_the_test_is_used() -> None:
    worse, open_ = (
        TrialVerdict(0.5, Tally(0, 5, 5), False, True),
        TrialVerdict(1.0, Tally(9, 0, 1), False, False),
    )
    good, best = TrialVerdict(0.5, Tally(8, 0, 2), True, True), TrialVerdict(1.0, Tally(9, 0, 1), True, True)
    assert best_of([worse, open_]) is None
    assert best_of([good, best]) is best and best_of([worse, good]) is good


def test_a_trial_ends_when_there_is_no_more_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    machine = Game.load("tictactoe").machine("propnet")
    verdict = try_share(machine, 1.0, TrialTerms(0.01, 50, time.monotonic() - 1, 1, lambda *_: None))
    assert verdict.score.games == 0 and not verdict.better and not verdict.decided
    assert TEST.verdict([1.0] * 20) == "H1" and TEST.verdict([0.5] * 100) == "H0"


def test_what_is_clear_when_the_time_is_over_is_used_and_who_is_ahead_has_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Slow games had no more than ten matches in their time: 10:0 in chess decided nothing."""
    machine = Game.load("tictactoe").machine("propnet")
    for result, pairs, better in (((1.0, 1.0), 4, True), ((1.0, 1.0), 3, False), ((1.0, 0.0), 4, False)):
        played = []

        def pair(*_: object, result: tuple[float, float] = result, played: list[int] = played) -> object:
            played.append(1)
            return result

        monkeypatch.setattr("ggp.training.trial.play_pair", pair)
        terms = TrialTerms(0.01, pairs, time.monotonic() + 60, 1, lambda *_: None)
        verdict = try_share(machine, 1.0, terms)
        assert verdict.better == better and len(played) == pairs
        assert not TEST.verdict([sum(result) / 2] * pairs)
    # A series of wins ends it.
    monkeypatch.setattr("ggp.training.trial.play_pair", lambda *_: (1.0, 1.0))
    verdict = try_share(machine, 1.0, TrialTerms(0.01, 50, time.monotonic() + 60, 1, lambda *_: None))
    assert verdict.better and verdict.decided and verdict.score.wins == 10
    # One of losses ends it sooner: chess tried a rung until it had lost eight of eight.
    monkeypatch.setattr("ggp.training.trial.play_pair", lambda *_: (0.0, 0.0))
    verdict = try_share(machine, 1.0, TrialTerms(0.01, 50, time.monotonic() + 60, 1, lambda *_: None))
    assert not verdict.better and verdict.decided and verdict.score.losses == 6
    now = time.monotonic()
    late = TrialTerms(0.01, 9, now - 1, 1, lambda *_: None, now + 60)
    assert late.has_time(Tally(2, 0, 0)) and not late.has_time(Tally(1, 0, 0))
    assert not replace(late, latest=now - 1).has_time(Tally(2, 0, 0))


def test_a_machine_without_lanes_cannot_be_trained() -> None:
    with pytest.raises(GdlError, match="too large"):
        lane_machine_of(Game.load("tictactoe").machine("prover"))
