"""Measures our machines on public games beside what other GGP systems have published.

    python bench/yardsticks.py ../shared/corpus/games --seconds 1

Rates are per second of CPU time of one thread, uniformly random playouts. The published ones were
measured on other (some on older) processors, the year says when; 2026 is a machine like ours.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import orjson
from rich.console import Console
from rich.progress import track
from rich.table import Table

from gdl.errors import GdlError
from gdl.parser import parse_rules
from ggp.bench import Measurement, measure
from ggp.game import read_rules_file


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What others reach on one game.

    Attributes:
        prover: rate of ggp-base's prover, the reference implementation in Java.
        states: whether that is states per second; else playouts per second.
        best: best published playouts per second of a network engine (ggplib in C++, Sancho in
            Java: counter gates with event propagation); 0 where unknown.
        year: when ``prover`` was measured.
    """

    prover: float
    states: bool
    best: float
    year: int


PUBLISHED = {
    "ticTacToe": Yardstick(1_253, False, 381_700, 2026),
    "connectFour": Yardstick(115, False, 160_200, 2026),
    "breakthrough": Yardstick(12.6, False, 28_300, 2026),
    "reversi": Yardstick(49, True, 1_815, 2017),
    "hex": Yardstick(206, True, 1_950, 2016),
    "pentago": Yardstick(442, True, 18_400, 2016),
    "nineBoardTicTacToe": Yardstick(437, True, 31_200, 2016),
    "amazons_8x8": Yardstick(391, True, 4_370, 2016),
    "speedChess": Yardstick(158, True, 4_482, 2016),
    "skirmish": Yardstick(45, True, 863, 2016),
    "knightThrough": Yardstick(1_106, True, 10_900, 2016),
    "checkers": Yardstick(320, True, 2_500, 2016),
    "chineseCheckers2": Yardstick(2_893, True, 17_200, 2016),
    "dotsAndBoxes": Yardstick(613, True, 16_900, 2016),
    "eightPuzzle": Yardstick(3_379, True, 10_440, 2016),
    "othello-comp2007": Yardstick(5.1, True, 0, 2016),
    "chess_200": Yardstick(45, True, 0, 2016),
}


def main() -> None:
    """Read the arguments, measure, print the table and the geometric means."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="folder with the public games' .kif files")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="CPU seconds of playouts per game and machine"
    )
    parser.add_argument("--games", nargs="*", help="only these")
    parser.add_argument("--machines", nargs="*", default=["prover", "propnet"])
    parser.add_argument("--out", type=Path, help="write all measurements as JSON")
    given = parser.parse_args()
    names = [n for n in PUBLISHED if (given.folder / f"{n}.kif").is_file()]
    if given.games:
        names = [n for n in names if n in given.games]
    found: dict[tuple[str, str], Measurement] = {}
    for name in track(names, description="games"):
        rules = parse_rules(read_rules_file(given.folder / f"{name}.kif"), name)
        for machine in given.machines:
            try:
                found[name, machine] = measure(name, rules, machine, given.seconds)
            except GdlError as error:
                print(f"{name} on the {machine}: {error}")
    show(names, found)
    if given.out:
        rows = [m.as_dict() for m in found.values()]
        given.out.write_bytes(orjson.dumps(rows, option=orjson.OPT_INDENT_2))


def show(names: list[str], found: dict[tuple[str, str], Measurement]) -> None:
    """The table, a row per game, and geometric means of the ratios."""
    table = Table(
        "game", "ggp-base prover", "our prover", "ratio", "best network engine", "our propnet", "ratio",
        box=None, header_style="bold",
    )  # fmt: skip
    for column in table.columns[1:]:
        column.justify = "right"
    ratios: dict[str, list[float]] = {"prover": [], "propnet": []}
    for name in names:
        peer = PUBLISHED[name]
        prover, propnet = found.get((name, "prover")), found.get((name, "propnet"))
        unit = "states/s" if peer.states else "playouts/s"
        row = [
            name,
            f"{peer.prover:,g} {unit} ({peer.year})",
            "",
            "",
            f"{peer.best:,.0f}" if peer.best else "",
            "",
            "",
        ]
        if prover is not None:
            rate = prover.states_per_cpu_s if peer.states else prover.playouts_per_cpu_s
            ratios["prover"].append(rate / peer.prover)
            row[2:4] = [f"{rate:,.0f} {unit}", f"{rate / peer.prover:.1f}"]
        if propnet is not None:
            row[5] = f"{propnet.playouts_per_cpu_s:,.0f}"
            if peer.best:
                ratios["propnet"].append(propnet.playouts_per_cpu_s / peer.best)
                row[6] = f"{ratios['propnet'][-1]:.0f}"
        table.add_row(*row)
    Console().print(table)
    for machine, values in ratios.items():
        if values:
            mean = math.exp(sum(map(math.log, values)) / len(values))
            print(f"{machine}: geometric mean of {len(values)} ratios {mean:.1f}, smallest {min(values):.1f}")


if __name__ == "__main__":
    main()
