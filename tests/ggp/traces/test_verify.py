"""ggp verify: agreeing traces pass, every kind of difference fails with its reason."""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.rules import Rules
from gdl.syntax.format import convert
from gdl.syntax.parser import parse_rules
from ggp.cli import build
from ggp.game import Game
from ggp.traces import find_traces, read_trace, record, verify_all, verify_game
from players.kaskade.make_machine import make_machine

GAME = """(role You) (init (count 0)) (succ 0 1) (succ 1 2)
(<= (legal you up) (true (count ?x)) (succ ?x ?y)) (<= (legal you Stay) (true (count ?x)))
(<= (next (count ?y)) (does you up) (true (count ?x)) (succ ?x ?y))
(<= (next (count ?x)) (does you stay) (true (count ?x)))
(<= terminal (true (count 2))) (<= (goal you 100) (true (count 2)))"""


def trace() -> list[dict[str, Any]]:
    def step(s: int, count: int, joint: list[str] | None) -> dict[str, Any]:
        legal = ["Stay", "up"] if count < 2 else ["Stay"]
        return {
            "type": "step", "p": 0, "s": s, "terminal": count == 2, "state": [f"(COUNT {count})"],
            "legal": {"You": legal}, "joint": joint, "goals": [100 if count == 2 else None],
        }  # fmt: skip

    header = {"type": "game", "game": "g", "roles": ["You"], "init": ["(count 0)"]}
    return [
        header,
        step(0, 0, ["up"]),
        step(1, 1, ["stay"]),
        step(2, 1, ["up"]),
        step(3, 2, None),
        {"type": "end"},
    ]


def write(folder: Path, name: str, lines: list[dict[str, Any]], rules: str = GAME) -> None:
    (folder / "games").mkdir(exist_ok=True)
    (folder / "traces").mkdir(exist_ok=True)
    (folder / "games" / f"{name}.kif").write_text(rules)
    text = "\n".join(map(json.dumps, lines))
    (folder / "traces" / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode()))


def fault(lines: list[dict[str, Any]]) -> str | None:
    return verify_game(make_machine(parse_rules(GAME), "prover"), lines)[0]


def test_a_trace_that_agrees_passes_whatever_its_case() -> None:
    assert verify_game(make_machine(parse_rules(GAME), "prover"), trace()) == (None, 4)


@pytest.mark.parametrize(
    "name", ["ticTacToe", "nim2", "blocker", "eightPuzzle", "roshambo2", "connectFour", "chomp"]
)
def test_public_games_written_in_prolog_play_as_their_traces_say(name: str, corpus: Path) -> None:
    text = convert((corpus / "games" / f"{name}.kif").read_text(), "prolog")
    lines = list(read_trace(corpus / "traces" / f"{name}.jsonl.gz"))
    machine = make_machine(parse_rules(text, f"{name}.pl"), "prover")
    difference, states = verify_game(machine, lines)
    assert difference is None
    assert states > 10


@pytest.mark.parametrize(
    ("line", "change", "said"),
    [
        (0, {"init": ["(count 1)"]}, "initial state"),
        (0, {"roles": ["me"]}, "roles"),
        (1, {"legal": {"you": ["up"]}}, "legal moves of you: not in the trace: stay"),
        (1, {"legal": {"you": ["up", "stay", "down"]}}, "missing: down"),
        (1, {"legal": {}}, "no legal moves for you"),
        (2, {"state": ["(count 2)"]}, "playout 0 step 1: state"),
        (2, {"terminal": True}, "terminal"),
        (2, {"goals": [0]}, "goals"),
        (4, {"goals": [None]}, "goals"),
        (4, {"goals": [50]}, "the trace has [50], the machine [100]"),
    ],
)  # fmt: skip
def test_each_difference_is_found_and_named(line: int, change: dict[str, Any], said: str) -> None:
    lines = trace()
    lines[line] = {**lines[line], **change}
    difference = fault(lines)
    assert difference is not None
    assert said in difference


def test_several_recorded_goals_are_undefined_and_unrecorded_ones_are_not_compared() -> None:
    lines = trace()
    lines[1]["goals"] = [["0", "100"]]
    lines[2]["goals"] = None
    assert fault(lines) is None


def test_a_malformed_or_empty_trace_is_no_pass() -> None:
    with pytest.raises(GdlError):
        fault([{"type": "step"}])
    assert fault(trace()[:1]) == "the trace has no steps"


def test_a_game_that_hangs_dies_or_cannot_be_read_is_a_failing_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("good", "hangs", "dies", "grows"):
        write(tmp_path, name, trace())
    write(tmp_path, "broken", trace(), "(role")
    write(tmp_path, "empty", [])

    def make(rules: Rules, level: str) -> Machine:
        if rules.name == "hangs":
            time.sleep(1000)
        if rules.name == "dies":
            os._exit(3)
        if rules.name == "grows":
            bytearray(10**11)
        return make_machine(rules, level)

    monkeypatch.setattr("players.kaskade.make_machine.make_machine", make)
    monkeypatch.setattr("ggp.traces._SECONDS", 2.0)
    faults = {v.name: v.fault for v in verify_all(find_traces([tmp_path]), "prover")}
    assert faults.pop("good") is None
    assert faults["hangs"] == "took more than 2 s"
    assert faults["dies"] == "the process died (3)"
    assert faults["grows"] == "out of memory"
    assert faults["empty"] == "the trace has no steps"
    assert "never closed" in (faults["broken"] or "")


def test_the_command_ends_with_the_counts_and_its_status_tells(tmp_path: Path) -> None:
    write(tmp_path, "one", trace())
    runner = CliRunner()
    good = runner.invoke(build("verify"), ["verify", str(tmp_path)])
    assert (good.exit_code, good.output.splitlines()[-1]) == (0, "1 passed, 0 failed")
    lines = trace()
    lines[0]["sha256"] = "0"
    lines[2]["terminal"] = True
    write(tmp_path, "two", lines)
    bad = runner.invoke(
        build("verify"), ["verify", str(tmp_path / "traces"), "--games", str(tmp_path / "games")]
    )
    assert (bad.exit_code, bad.output.splitlines()[-1]) == (1, "1 passed, 1 failed")
    assert "two: playout 0 step 1: terminal" in bad.output
    assert "recorded from other rules" in bad.output


def test_a_missing_path_is_said(tmp_path: Path) -> None:
    with pytest.raises(GdlError):
        find_traces([tmp_path / "nothing"])
    with pytest.raises(GdlError):
        find_traces([tmp_path])


def test_rules_are_found_by_the_name_of_the_game_in_the_trace(tmp_path: Path) -> None:
    write(tmp_path, "g", trace())
    renamed = tmp_path / "traces" / "yesterday.jsonl.gz"
    (tmp_path / "traces" / "g.jsonl.gz").rename(renamed)
    (found,) = find_traces([renamed])
    assert found.rules == tmp_path / "games" / "g.kif"
    assert [verdict.fault for verdict in verify_all([found], "prover")] == [None]
    # A trace of a game that comes along needs no rules beside it.
    (ours,) = find_traces([Path("nim")])
    elsewhere = tmp_path / "traces" / "match-1.jsonl"
    elsewhere.write_bytes(ours.trace.read_bytes())
    (found,) = find_traces([elsewhere])
    assert found.rules.samefile(ours.rules)
    with pytest.raises(GdlError, match="no trace, folder or game nobody"):
        find_traces([Path("nobody")])


def test_a_game_in_another_size_is_found_by_its_name(tmp_path: Path) -> None:
    game = Game.load("chomp:3x2")
    path = tmp_path / "small.jsonl"
    path.write_bytes(b"".join(record(game.machine("prover"), game.name)))
    assert [verdict.fault for verdict in verify_all(find_traces([path]), "prover")] == [None]
    path.write_bytes(path.read_bytes().replace(b'"chomp:3x2"', b'"chomp:3x3"'))
    (verdict,) = verify_all(find_traces([path]), "prover")
    assert verdict.fault is not None and "initial state" in verdict.fault
    with pytest.raises(GdlError, match=r"playthrough chomp:3x2 > FILE\.jsonl"):
        find_traces([Path("chomp:3x2")])


def test_rules_in_infix_are_found_like_those_in_kif(tmp_path: Path) -> None:
    write(tmp_path, "g", trace())
    kif = tmp_path / "games" / "g.kif"
    infix = kif.with_suffix(".hrf")
    infix.write_text(convert(GAME, "infix"))
    kif.unlink()
    renamed = tmp_path / "traces" / "yesterday.jsonl.gz"
    for path in (tmp_path / "traces" / "g.jsonl.gz", renamed):
        if path == renamed:
            (tmp_path / "traces" / "g.jsonl.gz").rename(renamed)
        (found,) = find_traces([path])
        assert found.rules == infix
        assert [verdict.fault for verdict in verify_all([found], "prover")] == [None]
    infix.unlink()
    (lost,) = verify_all(find_traces([renamed]), "prover")
    assert lost.fault is not None
    assert lost.fault.startswith("there are no rules of this name: yesterday.kif (or .gdl, .hrf, .pl")
    assert lost.fault.endswith("(name their folder by --games)")


def test_rules_in_place_of_a_trace_are_told_how_to_get_one(tmp_path: Path) -> None:
    rules = tmp_path / "g.kif"
    rules.write_text(GAME)
    with pytest.raises(
        GdlError, match=r"g\.kif is not a trace \(`ggp playthrough .*g\.kif > g\.jsonl` writes one"
    ):
        find_traces([rules])
