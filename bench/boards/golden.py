"""Pictures of our own games as hashes: a test compares them, ``python -m bench.boards --golden`` writes them
anew.

Look at the sheet (``python -m bench.boards``) before you write hashes: they say only that nothing has
changed.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import orjson

from bench.boards.recorded import read_recorded
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game, games_folder
from ggp.traces.verify import find_traces

GOLDEN = Path("tests/ggp/boards/pictures.json")
LEVELS = ("tutorial.xsb:1", "yards.xsb:2", "snakes.txt:2")
UNHURRIED = 600.0
"""Seconds for random play: all of its states are seen, however slow the computer is."""


def own_games() -> list[str]:
    """The names of all games that come along, and some levels."""
    return [*sorted(path.stem for path in games_folder().glob("*.kif")), *LEVELS]


def pictures(name: str) -> list[str]:
    """Drawings of a game: the first state of all, one in the middle of a recorded match, and its end. Of a
    level the first state alone."""
    machine = Game.load(name).machine("prover")
    painter = SvgPainter.of_machine(machine, name, UNHURRIED)
    if name in LEVELS:
        return [painter.draw_state(machine.initial_state())]
    trace = next(trace for trace in find_traces([games_folder() / "playthroughs"]) if trace.name == name)
    first = read_recorded(trace).first
    drawn: list[str] = []
    for at in sorted({0, len(first) // 2, len(first) - 1}):
        drawn.append(painter.draw(first[at], first[at - 1] if at else None))
    return drawn


def hashes(name: str) -> list[str]:
    """The hash of each of a game's pictures."""
    return [sha256(drawn.encode()).hexdigest()[:16] for drawn in pictures(name)]


def write(path: Path) -> int:
    """Write the hashes of all own games; returns how many games there are."""
    golden = {name: hashes(name) for name in own_games()}
    path.write_bytes(orjson.dumps(golden, option=orjson.OPT_INDENT_2) + b"\n")
    return len(golden)
