"""What does the frontier search cost a state, and where does the time go?

    python -m bench.frontier tiles --columns 3 --rows 4 --goal-depth 34 --memory 600M --json
    python -m bench.frontier tiles --states 1e7 --workers 2 --memory 300M --scratch DIR
    python -m bench.frontier cost --states 24e7 --memory 1G

Sliding tiles, written in GDL, begin in order with the empty square in the last corner. `cost` prints a row
with a million states, ten million and so on, and at the end: ns a state until then, by stage. CPU seconds are
those of the whole process from its start, all threads, with the grounding and the loading of kernels; `other`
is what no stage took. With `--cluster` stages are those of the parts, CPU seconds those of who leads.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import orjson
from rich.console import Console
from rich.table import Table as Printed

from bench.frontier.sliding import GOALS, STAGES, Measured, search_tiles
from gdl.errors import GdlError
from players.puzzles.frontier.outcome import FrontierOptions


def main() -> None:
    """Read the arguments, search, print."""
    question, _, epilog = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.frontier",
        description=question,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("what", choices=("tiles", "cost"))
    add("--columns", type=int, default=3)
    add("--rows", type=int, default=4)
    add("--goal-depth", type=int, choices=sorted(GOALS), help="of 3x4: a position so many moves away ends it")
    add(
        "--states", type=float, default=float("inf"), help="stop after the layer with which there are so many"
    )
    add("--memory", type=_bytes, default="600M")
    add("--scratch", type=Path, help="a new directory for files")
    add("--workers", type=int, default=1)
    add("--cluster", default="", help="spread the states: HOST:PORT, local-ray:N, local:N")
    add("--parts", type=int, default=0, help="there; by default as many as it has cores")
    add("--symmetry", action="store_true", help="visit one state of each orbit")
    add("--json", action="store_true")
    given = parser.parse_args()
    if given.goal_depth is not None and (given.columns, given.rows) != (3, 4):
        parser.error("--goal-depth is known for 3 columns and 4 rows")
    goal = None if given.goal_depth is None else GOALS[given.goal_depth]
    options = FrontierOptions(
        given.memory,
        given.scratch,
        workers=given.workers,
        symmetry=given.symmetry,
        cluster=given.cluster,
        parts=given.parts,
    )
    measured: list[Measured] = []
    try:
        measured.extend(search_tiles(given.columns, given.rows, goal, given.states, options))
    except GdlError as error:
        parser.exit(1, f"{error}\n")
    if given.what == "tiles":
        measured = measured[-1:]
    if given.json:
        rows = [one.as_json() for one in measured]
        print(orjson.dumps(rows if given.what == "cost" else rows[0]).decode())
        return
    Console(highlight=False, width=200).print(table(measured))


def _bytes(text: str) -> int:
    """The bytes of ``600M`` or ``1.5G``."""
    return int(float(text[:-1]) * {"M": 1 << 20, "G": 1 << 30}[text[-1]])


def table(measured: list[Measured]) -> Printed:
    """A row each; times of stages in ns a state."""
    heads = "states", "depth", "moves", "CPU s", "s", "ns/state", *STAGES, "other", "B/state", "peak MB"
    printed = Printed(box=None, header_style="bold")
    for head in heads:
        printed.add_column(head, justify="right")
    for one in measured:
        each = 1e9 / one.states
        printed.add_row(
            f"{one.states:,}",
            str(one.depth),
            str(len(one.moves)),
            f"{one.seconds_cpu:.1f}",
            f"{one.seconds_wall:.1f}",
            f"{one.seconds_cpu * each:.0f}",
            *(f"{seconds * each:.1f}" for seconds in one.stages.values()),
            f"{one.other * each:.1f}",
            f"{one.bytes_per_state:.3f}",
            str(one.peak_rss >> 20),
        )
    return printed


if __name__ == "__main__":
    main()
