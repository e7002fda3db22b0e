"""Sliding tiles searched from the text of their rules, and what it costs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from gdl.syntax.parser import parse_rules
from players.kaskade.make_machine import make_machine
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierOptions
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
        wire: bytes of arrays sent to the parts of a spread search, and received.
    """

    states: int
    layers: list[int]
    moves: list[str]
    seconds_cpu: float
    seconds_wall: float
    stages: dict[str, float]
    bytes_per_state: float
    peak_rss: int
    wire: int

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
    columns: int, rows: int, goal: list[int] | None, states: float, options: FrontierOptions
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
            result.wire,
        )

    mark = 1e6
    try:
        while search.step(time.monotonic() + 0.02) and search.states < states:
            if search.states >= mark:
                yield measured()
                mark *= 10
        yield measured()
    finally:
        search.close()
