"""The table of all games on all machines: what is still to do, what ends a game, the report."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from bench import processes
from bench.table.report import machines_of, markdown, report
from bench.table.run import cut_broken_line, jobs_of, measured, still_to_do
from ggp.bench import read_results

LIMITS = {"cpu_limit": 60, "memory_limit": 4, "seconds": 0.05, "seed": 0, "repetitions": 1}
COUNTING = (
    "(role r) (init (n 0)) (legal r go) (<= (next (n 1)) (true (n 0)))(<= terminal (true (n 1))) (goal r 50)"
)


def row(game: str, machine: str, rate: float, **more: Any) -> dict[str, Any]:
    fields = {"game": game, "machine": machine, "status": "ok", "states_per_cpu_s": rate, "rates": [rate]}
    fields |= {"playouts_per_cpu_s": rate / 10, "mean_length": 10.0, "ns_per_lane_step": 1e9 / rate}
    fields |= dict.fromkeys(
        ("ground_s", "build_s", "compile_s", "cached_s", "compiled", "first_playout_s"), 0.25
    )
    size = 0 if machine == "prover" else 500
    fields |= dict.fromkeys(("gates", "gate_inputs", "base_propositions", "moves"), size) | {
        "peak_mb": 99.0,
        "cut": 0,
    }
    return fields | more


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
