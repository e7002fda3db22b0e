"""One sheet with a drawing of every game: ``python -m bench.boards --traces FOLDER --out FILE.html``.

Each drawing is the state after some plies of a recorded match, with what changed by the last one marked;
above it stands what the finder says of the board.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path

from bench.boards.recorded import GOLDEN, RecordedGame, read_recorded, renamed, write
from bench.scripts import command_line
from gdl.scramble import scramble
from gdl.words import counted
from ggp.boards.board import Grid, find_board
from ggp.boards.svg.markup import stylesheet
from ggp.boards.svg.picture import SvgPainter
from ggp.traces import find_traces
from players.kaskade.make_machine import make_machine

_STYLE = """
body { font: 14px/1.4 system-ui, sans-serif; margin: 1rem; color-scheme: light dark; }
main { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
figure { margin: 0; padding: 0.5rem; border: 1px solid #8888; border-radius: 8px; max-width: 30rem; }
figure svg { max-width: 29rem; max-height: 24rem; }
figcaption { font-weight: 600; overflow-wrap: anywhere; }
figcaption small { display: block; font-weight: 400; }
.wrong { color: #c0332b; }
"""


@dataclass(frozen=True, slots=True)
class DrawnGame:
    """A game on the sheet: its drawing, the verdict in words, CPU seconds; the error instead of a drawing."""

    name: str
    svg: str
    verdict: str
    seconds: float
    error: str = ""


def verdict_of(board: Grid | None) -> str:
    """What the finder says."""
    if board is None:
        return "no board"
    size = f"{len(board.columns)} by {len(board.rows)}"
    panels = f", {len(board.panels)} panels" if len(board.panels) > 1 else ""
    layers = ", ".join(sorted({layer.name for layer in board.layers}))
    return f"{board.shape.value}, {size}{panels}: {layers}"


def drawn(recorded: RecordedGame, plies: int, seed: int | None = None) -> DrawnGame:
    """The drawing of a recorded game after some plies; with a seed, of its scrambled rules."""
    started = time.process_time()
    try:
        rules, roles, states = recorded.rules, recorded.roles, list(recorded.states)
        if seed is not None:
            rules, names = scramble(rules, seed=seed)
            roles = tuple(renamed(term, names) for term in roles)
            states = [frozenset(renamed(term, names) for term in state) for state in states]
        board = find_board(make_machine(rules, "prover"))
        at = min(plies, len(recorded.first) - 1)
        painter = SvgPainter(board, rules, roles, recorded.name)
        svg = painter.draw(states[at], states[at - 1] if at else None)
        return DrawnGame(recorded.name, svg, verdict_of(board), time.process_time() - started)
    except Exception as error:  # this is what the sheet is to find
        text = f"{type(error).__name__}: {error}"
        return DrawnGame(recorded.name, "", "", time.process_time() - started, text)


def sheet(games: Iterator[DrawnGame]) -> Iterator[str]:
    """The page, piece by piece."""
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Boards</title>'
    yield f"<style>{stylesheet()}{_STYLE}</style></head><body><main>"
    for game in games:
        wrong = f'<small class="wrong">{escape(game.error)}</small>' if game.error else ""
        yield f"<figure><figcaption>{escape(game.name)}<small>{escape(game.verdict)}</small>{wrong}"
        yield f"</figcaption>{game.svg}</figure>\n"
    yield "</main></body></html>\n"


def main() -> int:
    parser = command_line(__doc__)
    parser.add_argument("names", nargs="*", help="these games only")
    parser.add_argument("--traces", type=Path, action="append", help="folders with games/ and traces/")
    parser.add_argument("--out", type=Path, default=Path("bench/out/boards.html"))
    parser.add_argument("--plies", type=int, default=10, help="after so many joint moves")
    parser.add_argument(
        "--golden", action="store_true", help="write the hashes of our own games' pictures anew"
    )
    parser.add_argument("--scramble", type=int, metavar="SEED", help="draw the scrambled rules")
    given = parser.parse_args()
    if given.golden:
        sys.stdout.write(f"{counted(write(GOLDEN), 'game')}: {GOLDEN}\n")
        return 0
    folders = given.traces or [Path("games/playthroughs")]
    found = [trace for trace in find_traces(folders) if not given.names or trace.name in given.names]
    games: list[DrawnGame] = []

    def each() -> Iterator[DrawnGame]:
        for trace in found:
            game = drawn(read_recorded(trace), given.plies, given.scramble)
            games.append(game)
            yield game

    given.out.parent.mkdir(parents=True, exist_ok=True)
    with given.out.open("w") as page:
        page.writelines(sheet(each()))
    errors = [game for game in games if game.error]
    without = [game.name for game in games if game.verdict == "no board"]
    for game in errors:
        sys.stdout.write(f"{game.name}: {game.error}\n")
    slowest = max(games, key=lambda game: game.seconds)
    sys.stdout.write(
        f"{len(games)} games, {len(errors)} errors, {len(without)} without a board; "
        f"{sum(game.seconds for game in games):.1f} CPU s, most {slowest.seconds:.1f} ({slowest.name})\n"
        f"without a board: {' '.join(without)}\n{given.out}\n"
    )
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
