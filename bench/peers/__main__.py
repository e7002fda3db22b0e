"""Other systems from PyPI beside ours, one CPU thread, uniformly random games: steps a second.

    python -m bench.peers [GAME...] [--seconds 2] [--environment FOLDER] [--json FILE] [--markdown FILE]

Makes a virtual environment, installs the others there, and runs each in a process of its own, pinned to one
core; a step is one move of one game. Ours, pgx and Ludax (both on JAX) step 512 games at once, OpenSpiel and
PettingZoo one game in a loop of Python; the heads of the columns say so. Our own single states are another
command's. For exact covers give ``FOLDER/bin/python`` to ``python -m bench.cover --peers``. What a system
cannot play is empty.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

from bench.adapters import vector_rate
from bench.scripts import command_line, processor
from ggp.game import Game

PACKAGES = ("ludax", "pgx", "open_spiel", "pettingzoo", "pygame", "chess", "rlcard", "xcover", "exact-cover")
"""Some games of PettingZoo need pygame, chess and rlcard."""
PLAYED = {
    "tictactoe": ("tic_tac_toe", "tic_tac_toe", "tic_tac_toe", "tictactoe_v3"),
    "connectfour": ("connect_four", "connect_four", "connect_four", "connect_four_v3"),
    "othello": ("reversi", "othello", "othello", ""),
    "hex": ("hex", "hex", "hex(board_size=9)", ""),
    "checkers": ("english_draughts", "", "checkers", ""),
    "breakthrough": ("", "", "breakthrough", ""),
    "chess": ("", "chess", "chess", "chess_v6"),
}
"""Our games, and their names in each of `PEERS`; empty where it has none. Boards may differ in size."""
PEERS = ("ludax", "pgx", "open_spiel", "pettingzoo")
SCRIPT = Path(__file__).with_name("peer_script.py")
LIMIT = 300
"""Seconds by the clock for one game of one system, compiling included."""
PUBLISHED = """Not measured here: the authors of pgx write that it runs 10 to 100 times as fast as existing
Python implementations on NVIDIA DGX-A100 machines (Koyamada et al., Pgx, NeurIPS 2023). A GPU changes the
columns of pgx and Ludax, not the others."""


def environment(folder: Path) -> Path:
    """The Python of a virtual environment that has the others; it is made if it is not there. Raises OSError
    or subprocess.CalledProcessError."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


def versions(python: Path) -> str:
    """Names and versions of what is installed there."""
    names = (*PEERS, "jax")
    line = f"import importlib.metadata as m; print(', '.join(p + ' ' + m.version(p) for p in {names}))"
    return subprocess.run(
        [str(python), "-c", line], capture_output=True, text=True, check=True
    ).stdout.strip()


def rate(python: Path, peer: str, game: str, seconds: float) -> float | str:
    """Steps a second of one game, or why there are none."""
    try:
        done = subprocess.run(
            [str(python), str(SCRIPT), peer, game, str(seconds)],
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return f"> {LIMIT} s"
    if done.returncode:
        return "fails: " + (done.stderr.strip().splitlines() or ["no message"])[-1][:60]
    return float(json.loads(done.stdout.splitlines()[-1])["rate"])


def markdown(rows: dict[str, dict[str, float | str]], about: str) -> str:
    """The table: a row for each game."""
    head = ["game", "ours, 512 at once", "Ludax, 512", "pgx, 512", "OpenSpiel, 1", "PettingZoo, 1"]
    lines = [about, "", f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for game, row in rows.items():
        cells = [_shown(row.get(name, "")) for name in ("ours", *PEERS)]
        lines.append(f"| {game} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", PUBLISHED]) + "\n"


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,.0f}"


def main() -> int:
    """Measure and print."""
    parser = command_line(__doc__)
    parser.add_argument("games", nargs="*", help=f"of {', '.join(PLAYED)}; all if none")
    parser.add_argument("--seconds", type=float, default=2.0, help="CPU seconds for each figure")
    parser.add_argument("--environment", type=Path, default=Path("bench/out/peers"), help="where it is made")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    wanted = parser.parse_args()
    unknown = [game for game in wanted.games if game not in PLAYED]
    if unknown:
        parser.error(f"{unknown[0]!r} is none of {', '.join(PLAYED)}")
    try:
        python = environment(wanted.environment)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"bench.peers: no environment: {error}", file=sys.stderr)
        return 1
    about = f"{processor()}, one thread; {versions(python)}."
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows: dict[str, dict[str, float | str]] = {}
    for game in wanted.games or PLAYED:
        row = rows[game] = {"ours": vector_rate(Game.load(game), 512, wanted.seconds).rate}
        for peer, name in zip(PEERS, PLAYED[game], strict=True):
            if name:
                row[peer] = rate(python, peer, name, wanted.seconds)
        print(game, {who: _shown(value) for who, value in row.items()}, file=sys.stderr, flush=True)
        if wanted.json:
            wanted.json.write_text(json.dumps({"about": about, "rates": rows}, indent=1))
    text = markdown(rows, about)
    print(text)
    if wanted.markdown:
        wanted.markdown.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
