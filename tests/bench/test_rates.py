"""Machines are measured and go in step; the tables of rates show what was measured and what fails."""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path

import numpy as np
import orjson
import pytest

from bench import lockstep, processes
from bench.adapters import vector_rate, wrapped
from bench.peers.__main__ import PEERS, PLAYED, rate
from bench.peers.__main__ import markdown as peers_markdown
from bench.table.report import machines_of, markdown, report
from bench.table.run import cut_broken_line, jobs_of, measured, still_to_do
from gdl.errors import GdlError
from ggp.bench import read_results
from ggp.game import Game
from propnet.machine import PropnetMachine
from propnet.single.one_state import OneState
from tests.ggp.bench.test_bench import row

LIMITS = {"cpu_limit": 60, "memory_limit": 4, "seconds": 0.05, "seed": 0, "repetitions": 1}
COUNTING = (
    "(role r) (init (n 0)) (legal r go) (<= (next (n 1)) (true (n 0)))(<= terminal (true (n 1))) (goal r 50)"
)

ROWS = [
    row("reversi", "prover", 100.0),
    row("reversi", "propnet", 1_000.0),
    row("reversi", "native", 8_000.0, rates=[7_000.0, 8_000.0, 11_000.0]),
    row("go", "prover", 100.0),
    row("go", "propnet", 1_000.0),
    row("go", "native", 2_000.0, cut=3),
    row("Chess", "prover", 7.0),
    {"game": "Chess", "machine": "propnet", "status": "TooLargeError: more than | 60 s"},
]


def cells(line: str) -> int:
    return line.replace("\\|", "").count("|")


def test_the_report_names_games_means_and_reasons() -> None:
    text = markdown({"seed": 3}, ROWS)
    assert "| native over propnet | **4.00** | 2 |" in text
    assert "| native over prover | **40.0** | 2 |" in text
    assert "| propnet over prover | **10.0** | 2 |" in text
    assert "TooLargeError: more than \\| 60 s" in text
    assert "800~" in text
    assert "10.0†" in text
    assert "1,815" in text  # what others reach on reversi


def test_every_table_of_the_report_has_rows_of_one_width() -> None:
    for block in markdown({}, ROWS).split("\n\n"):
        if block.startswith("|"):
            assert len({cells(line) for line in block.splitlines()}) == 1


def test_a_run_with_one_machine_or_without_any_success_has_a_report() -> None:
    assert "reversi" in markdown({}, ROWS[:1])
    assert "TooLargeError" in markdown({}, ROWS[-1:])


def test_machines_are_in_the_order_of_their_speed() -> None:
    assert machines_of(list(reversed(ROWS))) == ["prover", "propnet", "native"]


def test_the_files_of_a_report_can_be_read_again(tmp_path: Path) -> None:
    report({"seed": 3}, ROWS, tmp_path)
    about, rows = read_results(tmp_path / "table.json")
    assert about == {"seed": 3}
    assert sorted(map(orjson.dumps, rows)) == sorted(map(orjson.dumps, ROWS))


def test_only_what_is_missing_or_has_changed_is_measured_again(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.kif").write_text(COUNTING)
    jobs = jobs_of([tmp_path], ["prover", "propnet"], [])
    assert [job["game"] for job in jobs] == ["a", "a", "b", "b", "c", "c"]
    assert [job["machine"] for job in jobs] == ["prover", "propnet"] * 3
    assert jobs_of([tmp_path], ["prover"], ["[bc]"]) == [jobs[2], jobs[4]]
    same = hashlib.sha256(COUNTING.encode()).hexdigest()
    rows = [
        {**jobs[0], "status": "ok", "sha256": same},
        {**jobs[1], "status": "ok", "sha256": "other"},
        {**jobs[2], "status": "no answer"},
        {**jobs[3], "status": "TooLargeError", "sha256": same},
    ]
    assert still_to_do(jobs, rows, again=False) == [jobs[1], *jobs[4:]]
    assert still_to_do(jobs, rows, again=True) == jobs[1:]


def test_a_broken_last_line_is_cut(tmp_path: Path) -> None:
    file = tmp_path / "table.jsonl"
    for text, left in (("a\nb\nc", "a\nb\n"), ("a\nb\n", "a\nb\n"), ("a", ""), ("", "")):
        file.write_text(text)
        cut_broken_line(file)
        assert file.read_text() == left
    cut_broken_line(tmp_path / "nothing")


@pytest.mark.slow
def test_each_game_is_measured_in_a_process_and_failures_are_rows(tmp_path: Path) -> None:
    (tmp_path / "good.kif").write_text(COUNTING)
    (tmp_path / "poor.kif").write_text("(role r")
    good, poor = measured(jobs_of([tmp_path], ["prover"], []), LIMITS)
    assert good["status"] == "ok"
    assert good["mean_length"] == 1
    assert good["sha256"] == hashlib.sha256(COUNTING.encode()).hexdigest()
    assert poor["status"].startswith("ParseError")


def test_a_game_that_takes_too_much_time_is_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "HANG", 60)  # or a busy machine is taken for a process that hangs
    endless = COUNTING.replace("(<= terminal (true (n 1)))", "(<= terminal (true (n 2)))")
    endless = endless.replace("(<= (next (n 1)) (true (n 0)))", "(<= (next (n ?x)) (true (n ?x)))")
    (tmp_path / "endless.kif").write_text(endless)
    (stopped,) = measured(jobs_of([tmp_path], ["prover"], []), LIMITS | {"seconds": 1e6, "cpu_limit": 1})
    assert stopped["status"].startswith("more than")


def test_ends_of_processes_have_reasons() -> None:
    assert processes.death(-6) == "died of SIGABRT"
    assert processes.death(3) == "ended with status 3"


# --- Machines go in step on games of every class, and a difference would be seen
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["tictactoe", "biddingtictactoe", "breakthrough", "hex", "othello", "chinesecheckers", "sokoban"]
)
def test_native_propnet_and_prover_go_in_step(name: str) -> None:
    result = lockstep.compare(Game.load(name), 40 * 512, 10)
    assert result.difference == ""
    assert result.steps == 40 * 512
    assert result.prover_steps == 10
    assert result.compiled == 1.0


@pytest.mark.parametrize("method", ["evaluate", "successors"])
def test_a_machine_that_differs_is_caught(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    right = getattr(PropnetMachine, method)

    def wrong(self, records, *rest):
        answer = right(self, records, *rest)
        if self.level == "native" and rest:
            answer[-1, 0] ^= np.uint64(1)
        elif self.level == "native":
            answer.legal[-1, 0] ^= np.uint64(1)
        return answer

    monkeypatch.setattr(PropnetMachine, method, wrong)
    result = lockstep.compare(Game.load("tictactoe"), 512, 1)
    assert "native and propnet" in result.difference


def test_a_prover_that_differs_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    from gdl.prover.machine import ProverMachine

    monkeypatch.setattr(ProverMachine, "is_terminal", lambda self, state: True)
    result = lockstep.compare(Game.load("tictactoe"), 512, 1)
    assert result.difference.startswith("terminal")


@pytest.mark.parametrize("name", ["tictactoe", "biddingtictactoe", "hex", "sokoban"])
def test_single_states_go_in_step_with_lanes(name: str) -> None:
    assert lockstep.compare_single(lockstep.network_machine(Game.load(name)), 600) == ("", 600)


@pytest.mark.slow
def test_single_states_of_public_games_go_in_step_with_lanes_and_with_the_oracle(
    corpus_games: list[Path],
) -> None:
    """All games that ground in 20 s where GGP_CORPUS is set, else every eighth."""
    compared = 0
    for path in corpus_games[:: 1 if os.environ.get("GGP_CORPUS") else 8]:
        try:
            machine = lockstep.network_machine(Game.load(path), 20.0)
        except GdlError:
            continue
        assert lockstep.compare_single(machine, 500)[0] == "", path.stem
        fault, states = lockstep.replay(machine, path)
        # Some rules are not those of their trace, others spell a symbol in two ways.
        assert fault == "" or fault == lockstep.replay(Game.load(path).machine("prover"), path)[0], path.stem
        compared += states > 0
    assert compared >= 20


@pytest.mark.parametrize("answer", ["terminal", "legal", "goal", "play"])
def test_a_single_state_that_differs_is_caught(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    class Wrong(OneState):
        def _wrong(self) -> bool:
            return int.from_bytes(self.key, "little").bit_count() > 9  # some states

        def go(self, key):
            super().go(key)
            self._spoil()

        def play(self, key, joint):
            after = super().play(key, joint)
            self._spoil()
            return bytes(len(after)) if answer == "play" and self._wrong() else after

        def _spoil(self):
            if answer == "terminal" and self._wrong():
                self.terminal ^= 1
            if answer == "legal" and self._wrong():
                self.legal = ((), *self.legal[1:])

        def goal(self, role):
            return 55 if answer == "goal" and self._wrong() else super().goal(role)

    monkeypatch.setattr(lockstep, "OneState", Wrong)
    difference, _ = lockstep.compare_single(lockstep.network_machine(Game.load("tictactoe")), 600)
    assert difference.startswith("the state after" if answer == "play" else "what holds in")


# --- The table of other systems shows what was measured and what fails, and every game is one of ours
@pytest.mark.parametrize("game", PLAYED)
def test_games_are_ours_and_have_a_name_or_none_for_each_system(game: str) -> None:
    assert Game.load(game).name
    assert len(PLAYED[game]) == len(PEERS)


def test_rates_and_reasons_stand_in_their_columns() -> None:
    text = peers_markdown({"hex": {"ours": 1234567.0, "pgx": "> 300 s", "open_spiel": 5.0}}, "a processor")
    assert "| hex | 1,234,567 |  | > 300 s | 5 |  |" in text
    assert text.startswith("a processor\n")


def test_a_system_that_fails_says_why() -> None:
    assert "KeyError" in str(rate(Path(sys.executable), "none", "chess", 0.1))


# --- The benchmark of environments plays matches and counts their steps
@pytest.mark.slow
def test_rates_are_of_the_environments_that_were_asked_for() -> None:
    row = vector_rate(Game.load("tictactoe"), 64, 0.05)
    assert (row.game, row.environments) == ("tictactoe", 64)
    assert row.rate > 0 and 0 < row.of_choice < 1


def test_wrapped_environments_are_timed() -> None:
    pytest.importorskip("pettingzoo", reason="pip install 'kaskade-ggp[rl]'")
    rows = list(wrapped("tictactoe", 16, 0.05))
    assert [row.environments for row in rows] == [16, 1]
    assert all(row.rate > 0 for row in rows)
