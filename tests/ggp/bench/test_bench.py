"""Measuring machines: what is counted, what files hold, comparisons (no time asserted)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bench.table.report import level_ratios
from gdl.errors import GdlError
from gdl.machine import Machine, Playouts
from ggp.bench import compare, comparison, console, differ, levels, measure, measurements, read_results, run
from ggp.cli import build
from ggp.game import Game


def row(game: str = "chess", machine: str = "propnet", rate: float = 100.0, **more: Any) -> dict[str, Any]:
    """A row as a measurement gives it, with nothing remarkable."""
    fields = {"game": game, "machine": machine, "status": "ok", "peak_mb": 100.0, "rates": [rate] * 3}
    fields |= {"states_per_cpu_s": rate, "playouts_per_cpu_s": rate / 10, "ns_per_lane_step": 1e9 / rate}
    seconds = "ground_s", "build_s", "compile_s", "cached_s", "compiled", "first_playout_s"
    sizes = "gates", "gate_inputs", "base_propositions", "moves"
    fields |= dict.fromkeys(seconds, 0.25) | dict.fromkeys(sizes, 5) | {"mean_length": 10.0, "cut": 0}
    return fields | more


def failed(game: str = "chess", machine: str = "propnet") -> dict[str, Any]:
    return {"game": game, "machine": machine, "status": "TooLargeError: much too large"}


# --- measuring -----------------------------------------------------------------------------------------
class Ticking(Machine):
    """Plays playouts of ten steps; each takes 0.001 on its own clock, more in batch ``slow``."""

    level = "propnet"

    def __init__(self, slow: int = -1) -> None:
        self.clock = 0.0
        self.batches: list[tuple[int, int]] = []
        self.slow = slow

    def playouts(self, n: int, seed: int = 0, state: object = None, max_steps: int = 100_000) -> Playouts:
        self.batches.append((n, seed))
        self.clock += n * (0.01 if seed == self.slow else 0.001)
        return Playouts(np.zeros((n, 1), np.int16), np.full(n, 10, np.int32), n // 4)


Ticking.__abstractmethods__ = frozenset()  # type: ignore[attr-defined]


def test_the_median_of_the_repetitions_counts() -> None:
    machine = Ticking(slow=2)
    rates = run(machine, 50.0, 0, 5, cpu=lambda: machine.clock)
    assert math.isclose(rates["states_per_cpu_s"], 10_000)
    assert math.isclose(rates["playouts_per_cpu_s"], 1000)
    assert math.isclose(min(rates["rates"]), 1000)
    assert rates["mean_length"] == 10
    assert rates["cut"] * 4 == rates["playouts"]


def test_no_batch_is_played_twice_and_sizes_are_equal_once_it_counts() -> None:
    machine = Ticking()
    run(machine, 100.0, 0, 5, cpu=lambda: machine.clock)
    assert len({seed for _, seed in machine.batches}) == len(machine.batches)
    assert len({n for n, _ in machine.batches[-5:]}) == 1


def test_no_playout_that_counts_was_played_before(monkeypatch: pytest.MonkeyPatch) -> None:
    # A machine that remembers states would seem to play it at no cost.
    machine = Ticking()
    stages = dict.fromkeys(("ground_s", "build_s", "compile_s", "cached_s", "compiled"), 0.0)
    monkeypatch.setattr("ggp.bench.make", lambda rules, level: (machine, stages))
    measure("ticking", Game.load("tictactoe").rules, "propnet", 0.001, playouts=1)
    assert len({seed for _, seed in machine.batches}) == len(machine.batches)


def test_a_slow_machine_gets_fewer_repetitions() -> None:
    machine = Ticking()
    assert len(run(machine, 0.1, 0, 5, cpu=lambda: machine.clock)["rates"]) == 1


def test_given_playouts_are_played_as_often_as_asked_without_trying_sizes() -> None:
    machine = Ticking()
    run(machine, 0.1, 7, 3, playouts=8192, cpu=lambda: machine.clock)
    assert machine.batches == [(8192, 7), (8192, 8), (8192, 9)]


@pytest.mark.parametrize("level", levels())
def test_every_level_can_be_measured(level: str) -> None:
    measurement = measure("tictactoe", Game.load("tictactoe").rules, level, 0.05, repetitions=3)
    assert measurement.machine == level
    assert 5 <= measurement.mean_length <= 9
    assert measurement.cut == 0
    if level != "prover":
        assert measurement.gate_inputs > measurement.gates > 0


# --- files ---------------------------------------------------------------------------------------------
names = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=9)


@given(st.dictionaries(st.tuples(names, names), st.floats(1e-3, 1e12), min_size=1))
def test_lines_lists_and_reports_hold_the_same_rows(rates: dict[tuple[str, str], float]) -> None:
    import tempfile

    rows = [row(game, machine, rate) for (game, machine), rate in rates.items()]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results"
        for data in (
            b"\n".join(map(orjson.dumps, rows)) + b"\n",
            orjson.dumps(rows),
            orjson.dumps({"about": {"seed": 1}, "rows": rows}),
        ):
            file.write_bytes(data)
            assert read_results(file)[1] == rows


def test_a_run_that_was_stopped_loses_at_most_its_last_line(tmp_path: Path) -> None:
    lines = [orjson.dumps({"about": {"seed": 3}}), orjson.dumps(row("a")), orjson.dumps(row("b"))]
    whole = b"\n".join(lines)
    file = tmp_path / "results.jsonl"
    for end in range(len(lines[0]) + 1 + len(lines[1]), len(whole)):
        file.write_bytes(whole[:end])
        about, rows = read_results(file)
        assert about == {"seed": 3}
        assert [r["game"] for r in rows] == ["a"]


def test_the_last_of_several_rows_counts(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_bytes(b"\n".join(map(orjson.dumps, [failed(), row(rate=7.0)])))
    assert read_results(file)[1] == [row(rate=7.0)]


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", '{"a": 1}', "{}\n{", '{"game": 1}\nx\n{}', "null"])
def test_files_of_something_else_are_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(text)
    with pytest.raises(GdlError, match="measurements"):
        read_results(file)
    with pytest.raises(GdlError, match="cannot read"):
        read_results(tmp_path / "nothing.json")


# --- comparing -----------------------------------------------------------------------------------------
def test_a_change_is_sure_where_the_repetitions_lie_apart() -> None:
    old = row(rates=[90.0, 100.0, 110.0])
    clear, unclear = row(rate=200.0, rates=[190.0, 200.0, 210.0]), row(rate=120.0, rates=[99.0, 120.0, 130.0])
    (change,) = compare([old], [clear])
    assert (change.ratio, change.sure, change.old_ready) == (2.0, True, 1.0)
    (change,) = compare([old], [unclear])
    assert (change.ratio, change.sure) == (1.2, False)


def test_one_stray_repetition_does_not_hide_a_change_and_two_prove_none() -> None:
    assert differ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 4.5])
    assert not differ([1.0, 2.0, 3.0, 4.0, 5.0], [3.0, 7.0, 8.0, 9.0, 1.5])
    assert not differ([1.0, 1.0], [2.0, 2.0])


@given(st.lists(st.integers(0, 9), max_size=6), st.lists(st.integers(0, 9), max_size=6))
def test_what_differs_one_way_differs_the_other_way(some: list[float], others: list[float]) -> None:
    assert differ(some, others) == differ(others, some)
    assert not differ(some, some)


def test_what_cannot_be_compared_says_why() -> None:
    new = [row("a"), row("b"), failed("c")]
    notes = {c.game: (c.ratio, c.note) for c in compare([failed("b"), row("c")], new)}
    assert notes["a"] == (0, "not measured before")
    assert notes["b"] == (0, "before: TooLargeError: much too large")
    assert notes["c"] == (0, "now: TooLargeError: much too large")


def test_levels_are_compared_on_the_games_that_both_run() -> None:
    rows = [row("a", "prover", 2.0), row("a", "propnet", 10.0), row("b", "prover", 1.0), failed("b")]
    assert level_ratios(rows, "propnet", "prover") == {"a": 5.0}


# --- showing -------------------------------------------------------------------------------------------
def shown(what: Any, width: int) -> str:
    out = console()
    out.width = width
    with out.capture() as capture:
        out.print(what)
    return capture.get()


def test_tables_at_the_terminal_name_games_and_rates() -> None:
    rows = [row("chess", rate=1234567.0), failed("go")]
    for width in (80, 120):
        text = shown(measurements(rows, width), width)
        assert "123,457" in text
        assert "chess" in text
        assert "go" not in text
        assert max(map(len, text.splitlines())) <= width
    text = shown(comparison(compare([row("chess", rate=1e6)], rows)), 120)
    assert "1.23" in text
    assert "geometric mean of 1; 1 faster" in " ".join(text.split())


def test_rates_that_fell_by_more_than_a_tenth_are_named() -> None:
    old = [row("chess", rates=[100.0] * 5), row("hex", rates=[100.0] * 5), row("go", rates=[100.0] * 5)]
    new = [
        row("chess", rate=88.0, rates=[88.0] * 5),
        row("hex", rate=92.0, rates=[92.0] * 5),
        row("go", rate=80.0, rates=[80.0, 101.0, 101.0, 80.0, 79.0]),
    ]
    text = " ".join(shown(comparison(compare(old, new)), 120).split())
    assert text.endswith("slower by more than 10%: chess on propnet 0.88")
    assert "slower by more than" not in shown(comparison(compare(new[:1], old[:1])), 120)


# --- the command ---------------------------------------------------------------------------------------
def ggp_bench(*arguments: str) -> Any:
    return CliRunner().invoke(build("bench"), ["bench", *arguments])


def test_results_are_compared_with_earlier_ones(tmp_path: Path) -> None:
    one = orjson.loads(ggp_bench("tictactoe", "-m", "propnet", "-s", "0.05", "--json").stdout)
    assert one["playouts"] > 0 < one["mean_length"]
    file = tmp_path / "old.json"
    file.write_bytes(orjson.dumps(one))
    done = ggp_bench(str(file), "--compare", str(file))
    assert done.exit_code == 0
    assert "1.00" in done.stdout
    assert "tictactoe" in done.stdout


def test_games_that_fail_are_rows_with_the_reason(tmp_path: Path) -> None:
    broken = tmp_path / "broken.kif"
    broken.write_text("(init (b)) (<= terminal (true (b)))")
    done = ggp_bench(str(broken), "--json", "-m", "prover")
    assert done.exit_code == 1
    read = orjson.loads(done.stdout)
    assert read["game"] == "broken"
    assert "Error" in read["status"]


def test_nothing_to_measure_and_unknown_machines_are_refused() -> None:
    for arguments in ([], ["tictactoe", "-m", "abacus"]):
        done = ggp_bench(*arguments)
        assert isinstance(done.exception, GdlError)
