"""Tournaments that are played: interrupted ones, misbehaving players, players over HTTP, cores."""

from __future__ import annotations

import asyncio
import io
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gdl.errors import GdlError
from gdl.information import playing
from ggp.console import new_console
from ggp.game import Game
from ggp.protocol.match_record import MatchRecord
from ggp.tournament import referee
from ggp.tournament import settings as tournament_settings
from ggp.tournament.process import TournamentProcess
from ggp.tournament.referee import PlayerTerms, ProcessPlayer
from ggp.tournament.runner import Runner
from ggp.tournament.schedule import Fixture, plan
from ggp.tournament.session import Session
from ggp.tournament.settings import Entrant, GameSpec, TournamentSettings, parse_entrants
from ggp.tournament.statistics.ratings import Sprt, rate
from ggp.tournament.statistics.scores import comparisons
from ggp.tournament.statistics.standing import fault_lines, standing_of
from ggp.tournament.store import Result, Store
from ggp.web.tournament_process import tables_of
from players.processes.lifeline import descendants
from tests.ggp.program import ggp
from tests.ggp.server.live import LiveServer
from tests.ggp.tournament.small_tournaments import Silent, tournament_of
from tests.places import ROOT
from tests.waiting import runs, until

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _players_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """The processes of a tournament find the players of this folder."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))


def tournament(*players: str, game: str = "tictactoe", roles: int = 2, **more: object) -> TournamentSettings:
    """Players by ``odd_players:...`` or registered names; the clocks never matter unless given."""
    entrants = [Entrant(name, f"odd_players:{name}" if name[0].isupper() else name) for name in players]
    more = {"name": "test", "startclock": 60.0, "playclock": 60.0, "level": "prover", **more}
    return tournament_of(entrants, game, roles, **more)


def run(
    settings: TournamentSettings, path: Path, sprt: Sprt | None = None, workers: int = 1
) -> tuple[list[Result], Silent]:
    """Play a tournament to its end."""
    watcher = Silent()
    with Store(path) as store:
        asyncio.run(Runner(settings, store, workers, sprt).run(watcher))
        return store.results(), watcher


def test_all_fixtures_are_played_once_from_the_same_openings(tmp_path: Path) -> None:
    settings = tournament("random", "legal", "Quick", rounds=2, plies=2)
    path = tmp_path / "t.sqlite"
    results, watcher = run(settings, path, workers=0)
    expected = set(plan({"tictactoe": 2}, settings.labels, 2))
    assert {result.fixture for result in results} == expected
    assert watcher.begun == len(results) == 12
    assert all(result.faults == ((0, 0, 0), (0, 0, 0)) for result in results)
    with Store(path) as store:
        records = list(store.records())
    for number in (1, 2):
        begins = {str(record["moves"][:2]) for fixture, record in records if fixture.round == number}
        assert len(begins) == 1
    assert all(
        record["isCompleted"] and len(record["states"]) == len(record["moves"]) + 1 for _, record in records
    )
    again, watcher = run(settings, path)
    assert again == results
    assert watcher.begun == 0


def test_a_sequential_test_ends_the_tournament(tmp_path: Path) -> None:
    settings = tournament("Quick", "legal", rounds=200)
    results, _ = run(settings, tmp_path / "t.sqlite", Sprt(-200, 200))
    assert 4 < len(results) < 390


def test_no_sequential_test_is_decided_against_a_player_that_made_no_move(tmp_path: Path) -> None:
    settings = tournament("Quick", "Raising", rounds=12)
    results, _ = run(settings, tmp_path / "t.sqlite", Sprt(-200, 200))
    assert len(results) == 24
    assert all(result.own[result.fixture.seats.index("Raising")] == 0 for result in results)
    assert all(result.own[result.fixture.seats.index("Quick")] > 0 for result in results)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "why"),
    [
        ("Raising", "no move of its own in 4 matches; first exception: ZeroDivisionError: "),
        ("Crashing", "no move of its own in 4 matches; first process died: exit status 3, step 1"),
        ("Missing", "there is no player odd_players:Missing"),
        ("Refusing", "RuntimeError: no weights at odd_players.py:"),
        ("Cheater", "Cheater chooses 1000000"),
    ],
)
def test_a_player_that_never_moved_itself_has_no_rating_and_one_line_says_why(
    tmp_path: Path, player: str, why: str
) -> None:
    settings = tournament(player, "Quick", "legal", plies=0)
    path = tmp_path / "t.sqlite"
    run(settings, path)
    shown = io.StringIO()
    with Store(path) as store:
        session = Session(new_console(file=shown, width=100), settings, store, None)
        session.show()
        session.write([tmp_path / "all.html", tmp_path / "all.json", tmp_path / "all.csv"])
        store.set("settings", settings.as_json())
    text = shown.getvalue()
    [line] = [line for line in text.splitlines() if "has no rating" in line]
    assert line.startswith(f"{player} has no rating: ")
    assert why in line
    rated = {line.split()[0] for line in text.splitlines() if re.match(r" \w+ .*[+-]\d+\.\.", line)}
    assert rated == {"Quick", "legal"}
    told = tables_of(path)
    assert {row["player"] for row in told["ratings"]} == set(told["rated"]) == {"Quick", "legal"}
    assert told["unrated"] == [line]
    assert all(player not in row for row in told["games"])
    assert json.dumps(line)[1:-1] in (tmp_path / "all.html").read_text()


@pytest.mark.slow
def test_ratings_are_those_of_the_same_tournament_without_the_player_that_never_moved(tmp_path: Path) -> None:
    alone, _ = run(tournament("Quick", "legal", rounds=3), tmp_path / "alone.sqlite")
    among, _ = run(tournament("Quick", "legal", "Raising", rounds=3), tmp_path / "among.sqlite")
    assert len(among) == 3 * len(alone)
    standing = standing_of(among, ["Quick", "legal", "Raising"])
    assert {r.fixture: r.goals for r in standing.results} == {r.fixture: r.goals for r in alone}
    ours, theirs = (
        rate(comparisons(results), standing.labels).table for results in (standing.results, alone)
    )
    assert ours == theirs


def test_hanging_players_lose_their_turns_only(tmp_path: Path) -> None:
    settings = tournament("Hanging", "Quick", playclock=0.2, startclock=0.5, plies=4)
    results, watcher = run(settings, tmp_path / "t.sqlite")
    assert watcher.errors == []
    assert len(results) == 2
    for result in results:
        role = result.fixture.seats.index("Hanging")
        late, illegal, crashed = result.faults[role]
        assert late >= 1
        assert illegal == 0
        assert late + crashed >= 1
        assert result.completed


def test_a_player_that_is_late_once_is_not_started_again(tmp_path: Path) -> None:
    settings = tournament("Stumbling", "Quick", playclock=0.2, game="connectfour", plies=0)
    results, watcher = run(settings, tmp_path / "t.sqlite")
    assert watcher.errors == []
    for result in results:
        late, illegal, crashed = result.faults[result.fixture.seats.index("Stumbling")]
        assert (illegal, crashed) == (0, 0)
        # More turns may come while it still thinks about the first one.
        assert 1 <= late < result.steps // 2 - 1


@pytest.mark.slow
def test_a_player_that_was_started_again_is_given_the_time_to_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RECOVERING", str(tmp_path))
    # The other one takes its time, or the match is over before anything is loaded.
    settings = tournament("Recovering", "Slow", playclock=0.5, startclock=1.0, game="breakthrough", plies=0)
    results, watcher = run(settings, tmp_path / "t.sqlite")
    assert watcher.errors == []
    for result in results:
        late, illegal, crashed = result.faults[result.fixture.seats.index("Recovering")]
        assert (illegal, crashed) == (0, 1)
        assert late < result.steps // 2 - 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("player", "kind", "told"),
    [
        ("Raising", "crashed", r"exception: ZeroDivisionError: this player is broken at odd_players.py:\d+"),
        ("Crashing", "crashed", "process died: exit status 3"),
        ("Killed", "crashed", "process died: killed by SIGKILL"),
        ("Cheating", "illegal", "illegal move: noop"),
        ("Inventing", "illegal", r"illegal move: Inventing chooses 1000000"),
    ],
)
def test_each_bad_answer_is_counted_replaced_and_told(
    tmp_path: Path, player: str, kind: str, told: str
) -> None:
    results, watcher = run(tournament(player, "Quick", plies=0), tmp_path / "t.sqlite")
    with Store(tmp_path / "t.sqlite", writing=False) as store:
        [line] = fault_lines(store.faulty())
    assert (line.label, line.match, line.when) == (player, 1, "step 1")
    assert re.match(told, line.text)
    assert line.times == sum(map(sum, (row for result in results for row in result.faults)))
    assert watcher.errors == []
    for result in results:
        mine = result.fixture.seats.index(player)
        late, illegal, crashed = result.faults[mine]
        turns = (result.steps + 1 - mine) // 2
        # The last turn of a full board is no choice, and nobody is asked.
        assert {"crashed": crashed, "illegal": illegal}[kind] in (turns, turns - 1)
        assert late == 0
        assert result.faults[1 - mine] == (0, 0, 0)


def test_a_player_that_cannot_be_made_is_reported_and_tried_again(tmp_path: Path) -> None:
    settings = tournament("Missing", "Quick")
    results, watcher = run(settings, tmp_path / "t.sqlite")
    assert results == []
    assert len(watcher.errors) == 2
    assert all("Missing" in error for error in watcher.errors)
    with Store(tmp_path / "t.sqlite") as store:
        assert len(store.failures()) == 2
    assert run(settings, tmp_path / "t.sqlite")[1].begun == 2


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system cannot pin processes")
def test_each_player_has_a_core(tmp_path: Path) -> None:
    results, watcher = run(tournament("Pinned", "Quick", take_turns=True), tmp_path / "t.sqlite")
    assert watcher.errors == []
    assert [result.faults for result in results] == [((0, 0, 0), (0, 0, 0))] * 2


def test_matches_may_be_cut(tmp_path: Path) -> None:
    results, _ = run(tournament("random", "Quick", max_steps=4), tmp_path / "t.sqlite")
    assert [(result.steps, result.completed) for result in results] == [(4, False)] * 2
    assert all(sum(result.goals) == 100 for result in results)


@pytest.mark.slow
def test_players_over_http_play_along_from_openings(tmp_path: Path) -> None:
    server = LiveServer(player="legal", machine="prover")
    try:
        server.warm()
        settings = tournament("random", rounds=2, game="connectfour", startclock=30.0, playclock=30.0)
        remote = Entrant("remote", f"http://127.0.0.1:{server.port}")
        settings = TournamentSettings(
            "http", settings.games, (*settings.entrants, remote), 2, 30.0, 30.0, level="prover", plies=3
        )
        results, watcher = run(settings, tmp_path / "t.sqlite")
    finally:
        server.close()
    assert watcher.errors == []
    assert len(results) == 4
    assert [result.faults for result in results] == [((0, 0, 0), (0, 0, 0))] * 4


# --- kill -9 ---------------------------------------------------------------------------------------
def matches_on_disk(path: Path) -> list[tuple[object, ...]]:
    """The matches on the disk, read by someone else; none while there is no file."""
    if not path.exists():
        return []
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return database.execute(
            "SELECT id, game, round, seats, goals, record FROM match ORDER BY id"
        ).fetchall()
    except sqlite3.OperationalError:  # nothing is in it yet
        return []
    finally:
        database.close()


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_nothing_is_lost_nor_left_behind_at_kill_9(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    command = [sys.executable, "-m", "ggp", "tournament", "tictactoe", "-d", str(path)]
    command += ["-p", "a@odd_players:Brisk,b@odd_players:Brisk,c@legal"]
    command += ["--rounds", "2", "--clock", "60,60"]
    begun = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        until(lambda: len(matches_on_disk(path)) >= 3)
        family = descendants(begun.pid)
    finally:
        begun.send_signal(signal.SIGKILL)
        begun.wait()
    before = matches_on_disk(path)
    assert 3 <= len(before) < 12
    assert len(family) >= 3
    until(lambda: not any(map(runs, family)))

    # The file's name goes on with it, and the players' names where these are classes.
    shown = ggp("tournament", *command[5:9])
    assert shown.returncode == 0
    after = matches_on_disk(path)
    assert after[: len(before)] == before
    assert len({row[1:4] for row in after}) == len(after) == 12
    assert f"{len(before)} of them played already" in shown.stdout
    check = sqlite3.connect(path)
    assert check.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert check.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    check.close()


@pytest.mark.slow
def test_the_command_writes_everything_and_refuses_what_does_not_fit(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with Store(path) as store:
        settings = tournament("random", "legal")
        store.set("settings", settings.as_json())
        for seats in (("random", "legal"), ("legal", "random")):
            store.add(
                Result(Fixture("tictactoe", 1, seats), (100, 0), ((0, 0, 0), (1, 0, 0)), True, 7, 1.0),
                {"matchId": "m", "moves": [], "errors": []},
            )
    written = [f"--output={tmp_path / kind}" for kind in ("t.json", "t.csv")]
    shown = ggp("tournament", "-d", str(path), "--no-play", *written)
    assert shown.returncode == 0 and "random" in shown.stdout
    assert (tmp_path / "t.json").read_text().count('"matchId"') == 2
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 5
    refused = {
        ("-d", str(path), "--clock", "3"): "clock",
        ("-d", str(path), "-o", "t.pdf"): "not a known kind of file",
        ("-d", str(tmp_path / "new")): "there is no tournament",
        ("-d", str(path), "--sprt", "x"): "--sprt",
    }
    for options, message in refused.items():
        failed = ggp("tournament", *options)
        assert failed.returncode == 2
        assert message in failed.stderr
        assert "Traceback" not in failed.stderr


@pytest.mark.parametrize(
    ("names", "games", "level", "expected"),
    [
        ("uct:playouts=10,random", "tictactoe", "auto", {"tree-up", "playouts"}),
        ("random,legal", "hanoi tictactoe", "auto", {"evaluate", "states"}),
        ("uct:playouts=10", "hanoi", "auto", {"tree-up", "sokoban-searches", "frontier"}),
        ("random,cfr", "kuhn", "auto", {"playouts", "beliefs"}),
        ("uct:playouts=10,random", "tictactoe", "prover", set()),
    ],
)
def test_kernels_are_compiled_before_the_first_match_begins(
    names: str, games: str, level: str, expected: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(
        "ggp.tournament.session.compile_missing", lambda parts, *_: asked.extend(name for name, _ in parts)
    )
    monkeypatch.setattr("ggp.tournament.session.asyncio.run", lambda waiting: waiting.close())
    known = [Game.load(game) for game in games.split()]
    specs = tuple(GameSpec(one.name, one.kif, len(playing(one.machine("prover").roles))) for one in known)
    settings = TournamentSettings("t", specs, tuple(parse_entrants([names])), 1, 1.0, 1.0, level=level)
    with Store(tmp_path / "t.sqlite", writing=True) as store:
        Session(new_console(file=io.StringIO()), settings, store, None).play(1)
    assert expected <= set(asked)
    assert bool(asked) == bool(expected)
    assert "uct" in names or "tree-up" not in asked


# --- A class that hangs, wherever it does, costs its own clock, and the terminal says who is waited for
HANGS = """
import time
from players.baselines import LegalPlayer
class Made(LegalPlayer):
    def __init__(self, **options):
        time.sleep(1000)
class Prepared(LegalPlayer):
    def prepare(self, *_):
        time.sleep(1000)
class Chosen(LegalPlayer):
    def decide(self, *_):
        time.sleep(1000)
class Stopped(LegalPlayer):
    def stop(self):
        time.sleep(1000)
"""


@pytest.mark.parametrize("stage", ["Made", "Prepared", "Chosen", "Stopped"])
def test_a_player_that_hangs_before_the_match_is_named_and_refused(
    stage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "hangs.py").write_text(HANGS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(referee, "READY_SECONDS", 3.0)
    monkeypatch.setattr(referee, "REMIND_SECONDS", 0.1)
    rules = Game.load("tictactoe").kif
    terms = PlayerTerms("Slow", f"hangs:{stage}", rules, "prover", False, 1, (), 1.0, 1.0)
    reminders: list[str] = []

    async def load() -> bool:
        process = await TournamentProcess.start("ggp.tournament.player_process")
        player = ProcessPlayer(process, terms, MatchRecord("m", 1, 1, ["a", "b"]))
        try:
            with pytest.raises(GdlError, match="Slow cannot play: it is not ready after 3 s"):
                await player.load(0, reminders.append)
            return player.stop()
        finally:
            process.kill()
            await process.close()

    assert not asyncio.run(load()), "its process is not kept for another match"
    assert reminders == ["waiting for Slow"]


def test_an_import_that_hangs_is_named_and_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hanging_import.py").write_text("import time\ntime.sleep(1000)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(tournament_settings, "READY_SECONDS", 0.4)
    monkeypatch.setattr(tournament_settings, "REMIND_SECONDS", 0.2)
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(GdlError, match=r"hanging_import cannot be imported: .*:Player is not done after"):
        parse_entrants(["hanging_import:Player"])
    assert capsys.readouterr().err == "ggp: waiting for the import of hanging_import:Player\n"
    assert signal.getsignal(signal.SIGALRM) == before
    time.sleep(0.5)  # nothing rings any more
