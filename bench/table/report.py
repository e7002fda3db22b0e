"""The report on a run: geometric means, tables of all games beside what other systems reach, JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import geometric_mean, median

import orjson

from ggp.bench import Row, number, spread


@dataclass(frozen=True, slots=True)
class Published:
    """What others reach on one game, on one thread.

    Attributes:
        prover: rate of ggp-base's prover, the reference implementation in Java.
        states: whether that is states per second; else playouts per second.
        best: best published playouts per second of a network engine (ggplib in C++, Sancho in
            Java: counter gates with event propagation); 0 where unknown.
        year: when ``prover`` was measured, on a processor of that year; 2026 is one like ours.
    """

    prover: float
    states: bool
    best: float
    year: int


PUBLISHED = {
    "ticTacToe": Published(1_253, False, 381_700, 2026),
    "connectFour": Published(115, False, 160_200, 2026),
    "breakthrough": Published(12.6, False, 28_300, 2026),
    "reversi": Published(49, True, 1_815, 2017),
    "hex": Published(206, True, 1_950, 2016),
    "pentago": Published(442, True, 18_400, 2016),
    "nineBoardTicTacToe": Published(437, True, 31_200, 2016),
    "amazons_8x8": Published(391, True, 4_370, 2016),
    "speedChess": Published(158, True, 4_482, 2016),
    "skirmish": Published(45, True, 863, 2016),
    "knightThrough": Published(1_106, True, 10_900, 2016),
    "checkers": Published(320, True, 2_500, 2016),
    "chineseCheckers2": Published(2_893, True, 17_200, 2016),
    "dotsAndBoxes": Published(613, True, 16_900, 2016),
    "eightPuzzle": Published(3_379, True, 10_440, 2016),
    "othello-comp2007": Published(5.1, True, 0, 2016),
    "chess_200": Published(45, True, 0, 2016),
}


_NOISY = 0.1
"""From this half range of its repetitions on, as a share, a rate is marked."""


def report(about: Row, rows: list[Row], folder: Path) -> None:
    """Write table.json and table.md into a folder."""
    rows = sorted(rows, key=lambda row: row["game"].lower())
    (folder / "table.json").write_bytes(
        orjson.dumps({"about": about, "rows": rows}, option=orjson.OPT_INDENT_2)
    )
    (folder / "table.md").write_text(markdown(about, rows), encoding="utf-8")


def machines_of(rows: list[Row]) -> list[str]:
    """The machines that occur, slowest first (by the rates of games that all of them run)."""
    names = list(dict.fromkeys(row["machine"] for row in rows))

    def beaten(machine: str) -> int:
        ratios = (level_ratios(rows, machine, other).values() for other in names)
        return sum(geometric_mean(each) > 1 for each in ratios if each)

    return sorted(names, key=beaten)


def markdown(about: Row, rows: list[Row]) -> str:
    """The whole report as text."""
    machines = machines_of(rows)
    parts = [
        "# Every game on every machine\n\n" + _about(about),
        "## In short\n\n" + _means(rows, machines),
    ]
    if beside := _published(rows, machines):
        parts.append("## Beside other systems\n\n" + beside)
    parts.append("## Rates\n\n" + _rates(rows, machines))
    if failed := [row for row in rows if row["status"] != "ok"]:
        cells = [[row["game"], row["machine"], row["status"]] for row in failed]
        parts.append("## What failed\n\n" + _table(["game", "machine", "reason"], cells, left=3))
    return "\n\n".join(parts) + "\n"


def _about(about: Row) -> str:
    lines = [
        "Uniformly random playouts on one thread. Rates are per second of CPU time, the median of "
        f"{about.get('repetitions', 'several')} batches; `~` marks those whose batches differ by more "
        f"than ±{_NOISY:.0%}. Loading kernels and warming up do not count.",
    ]
    if about:
        lines.append(
            f"{about.get('version', '')}, {about.get('processor', '')}, Python {about.get('python', '')}, "
            f"numba {about.get('numba', '')}, {about.get('date', '')}; {about.get('seconds', 0):g} s of "
            f"playouts per game and machine, seed {about.get('seed', 0)}, limits "
            f"{about.get('cpu_limit', 0):g} s of CPU and {about.get('memory_limit', 0):g} GB."
        )
    return "\n\n".join(lines)


def _means(rows: list[Row], machines: Sequence[str]) -> str:
    """How many times as many states per CPU second one machine makes as another."""
    cells = []
    for slower, faster in reversed(list(combinations(machines, 2))):
        ratios = sorted(level_ratios(rows, faster, slower).values())
        if ratios:
            cells.append(
                [
                    f"{faster} over {slower}", f"**{number(geometric_mean(ratios))}**", f"{len(ratios)}",
                    number(median(ratios)), number(ratios[0]), number(ratios[-1]),
                ]
            )  # fmt: skip
    return _table(["states per CPU second", "geometric mean", "games", "median", "least", "most"], cells)


def _published(rows: list[Row], machines: Sequence[str]) -> str:
    """Our rates beside those that others have published, and the geometric means of the ratios."""
    good = {(row["game"], row["machine"]): row for row in rows if row["status"] == "ok"}
    fastest = machines[-1]
    cells = []
    ratios: dict[str, list[float]] = {machine: [] for machine in machines}
    for game, peer in PUBLISHED.items():
        prover, best = good.get((game, "prover")), good.get((game, fastest))
        if prover is None and best is None:
            continue
        unit = "states" if peer.states else "playouts"
        peers = f"{peer.prover:,g} {unit} ({peer.year})", f"{peer.best:,.0f}" if peer.best else ""
        row = [game, peers[0], "", "", peers[1], "", ""]
        if prover is not None:
            ours = prover["states_per_cpu_s"] if peer.states else prover["playouts_per_cpu_s"]
            ratios["prover"].append(ours / peer.prover)
            row[2:4] = [f"{number(ours)} {unit}", number(ours / peer.prover)]
        if best is not None and fastest != "prover":
            row[5] = number(best["playouts_per_cpu_s"])
            if peer.best:
                ratios[fastest].append(best["playouts_per_cpu_s"] / peer.best)
                row[6] = number(ratios[fastest][-1])
        cells.append(row)
    if not cells:
        return ""
    means = [
        f"{machine}: geometric mean of {len(values)} ratios {number(geometric_mean(values))}, "
        f"least {number(min(values))}."
        for machine, values in ratios.items()
        if values
    ]
    heads = [
        "game", "ggp-base prover, per s", "our prover", "ratio",
        "best network engine, playouts/s", f"our {fastest}", "ratio",
    ]  # fmt: skip
    notes = "Others' figures are from the year in brackets and its processors (ratios flatter us by that)."
    return _table(heads, cells) + "\n\n" + " ".join([notes, *means])


def _rates(rows: list[Row], machines: Sequence[str]) -> str:
    """Playouts and states per CPU second of every game."""
    cells = []
    pairs = [(machines[-1], other) for other in machines[:-1]]
    ratios = [level_ratios(rows, faster, slower) for faster, slower in pairs]
    for game, by_machine in _by_game(rows).items():
        good = _good(by_machine)
        failed = dict.fromkeys(by_machine, "failed")
        rates = [_rate(good[m]) if m in good else failed.get(m, "") for m in machines]
        over = [number(by_game.get(game, 0.0)) for by_game in ratios]
        last = next(reversed(good.values()), None)
        cells.append([game, *rates, *over, _length(last) if last else ""])
    heads = ["game", *(f"{machine} playouts/s" for machine in machines)]
    heads += [f"{faster} / {slower} (states/s)" for faster, slower in pairs]
    note = "Steps are joint moves per playout; † where some playouts reached no terminal state."
    return note + "\n\n" + _table([*heads, "steps"], cells)


def _length(row: Row) -> str:
    return f"{row['mean_length']:.1f}" + ("†" if row["cut"] else "")


def _rate(row: Row) -> str:
    return number(row["playouts_per_cpu_s"]) + ("~" if spread(row) > _NOISY else "")


def _by_game(rows: list[Row]) -> dict[str, dict[str, Row]]:
    by_game: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_game.setdefault(row["game"], {})[row["machine"]] = row
    return by_game


def _good(by_machine: dict[str, Row]) -> dict[str, Row]:
    return {machine: row for machine, row in by_machine.items() if row["status"] == "ok"}


def _table(heads: Sequence[str], cells: Iterable[Sequence[str]], left: int = 1) -> str:
    """A table in Markdown; texts from outside cannot break out of their cells."""
    lines = [heads, ["---" if place < left else "---:" for place in range(len(heads))]]
    lines += [[" ".join(cell.split()).replace("|", "\\|") for cell in row] for row in cells]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def level_ratios(rows: list[Row], faster: str, slower: str) -> dict[str, float]:
    """For every game that ran on both machines: states per CPU second, faster over slower."""
    rates: dict[str, dict[str, float]] = {faster: {}, slower: {}}
    for row in rows:
        if row["machine"] in rates and row["status"] == "ok" and row["states_per_cpu_s"] > 0:
            rates[row["machine"]][row["game"]] = row["states_per_cpu_s"]
    return {game: rate / rates[slower][game] for game, rate in rates[faster].items() if game in rates[slower]}
