"""What does the frontier search cost a state, and where does the time go?

    python -m bench.frontier tiles --columns 3 --rows 4 --goal-depth 34 --memory 600M --json
    python -m bench.frontier tiles --states 1e7 --workers 2 --memory 300M --scratch DIR
    python -m bench.frontier cost --states 24e7 --memory 1G

Sliding tiles, written in GDL, begin in order with the empty square in the last corner. `cost` prints a row
with a million states, ten million and so on, and at the end: ns a state until then, by stage. CPU seconds are
those of the whole process from its start, all threads, with the grounding and the loading of kernels; `other`
is what no stage took.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.table import Table as Printed

from bench.scripts import command_line
from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import SearchLimits
from propnet.machine import PropnetMachine
from tests.games.tiles import tiles

STAGES = "expand", "sort", "encode", "decode", "merge", "judge", "disk"
GOALS: dict[int, list[int]] = {
    10: [1, 2, 3, 10, 4, 6, 11, 5, 8, 0, 7, 9],
    20: [10, 1, 6, 3, 4, 2, 5, 0, 8, 11, 7, 9],
    24: [10, 2, 6, 3, 7, 5, 1, 0, 8, 4, 11, 9],
    34: [10, 11, 8, 3, 2, 6, 1, 7, 5, 4, 9, 0],
}
"""Positions of 3 columns and 4 rows, row by row, by how many moves they are from the start."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a search has cost until now.

    Attributes:
        states, layers: what was visited.
        moves: the line to the goal, once it is found.
        seconds_cpu: CPU seconds of the process.
        seconds_wall: since the rules were read.
        stages: CPU seconds of all threads by stage; ``disk`` by the clock.
        bytes_per_state: of the coded visited set.
        peak_rss: bytes.
    """

    states: int
    layers: list[int]
    moves: list[str]
    seconds_cpu: float
    seconds_wall: float
    stages: dict[str, float]
    bytes_per_state: float
    peak_rss: int

    @property
    def depth(self) -> int:
        """Of the last layer."""
        return len(self.layers) - 1

    @property
    def other(self) -> float:
        """CPU seconds that no stage took; what files took is in part of another kind."""
        return self.seconds_cpu - sum(spent for stage, spent in self.stages.items() if stage != "disk")

    def as_json(self) -> dict[str, Any]:
        """For a line of JSON."""
        return {**asdict(self), "depth": self.depth, "other": self.other}


def search_tiles(
    columns: int, rows: int, goal: list[int] | None, states: float, options: SearchLimits
) -> Iterator[Measured]:
    """Search until the goal (see :func:`tests.games.tiles.tiles`), or until there are so many states. Yields
    what it has cost with a million states, ten million and so on, and at the end."""
    began = time.monotonic()
    machine = make_machine(parse_rules(tiles(columns, rows, goal)), "propnet")
    assert isinstance(machine, PropnetMachine)
    search = FrontierSearch(machine, machine.records([machine.initial_state()]), options)

    def measured() -> Measured:
        result = search.result()
        return Measured(
            result.states,
            result.layers,
            [str(machine.move(0, move)) for move in result.moves],
            time.process_time(),
            time.monotonic() - began,
            {stage: result.seconds_by_stage.get(stage, 0.0) for stage in STAGES},
            result.bytes_per_state,
            result.peak_rss,
        )

    mark = 1e6
    try:
        while not search.step(time.monotonic() + 0.02) and search.states < states:
            if search.states >= mark:
                yield measured()
                mark *= 10
        yield measured()
    finally:
        search.close()


def main() -> None:
    """Read the arguments, search, print."""
    parser = command_line(__doc__)
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
    add("--symmetry", action="store_true", help="visit one state of each orbit")
    add("--json", action="store_true")
    given = parser.parse_args()
    if given.goal_depth is not None and (given.columns, given.rows) != (3, 4):
        parser.error("--goal-depth is known for 3 columns and 4 rows")
    goal = None if given.goal_depth is None else GOALS[given.goal_depth]
    options = SearchLimits(
        given.memory,
        given.scratch,
        workers=given.workers,
        symmetry=given.symmetry,
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
