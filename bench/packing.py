"""Packing puzzles: how many solutions, beside what BurrTools counts, and the CPU seconds they take.

Each puzzle is solved in a process of its own, as often as is asked for; kernels are loaded before the clock
starts. `--examples` names a folder with BurrTools' bundled files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from gdl.errors import sound
from players.puzzles.cover.files.xmpuzzle import read_xmpuzzle
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.packing.grids import grid
from players.puzzles.cover.packing.puzzle import CellShape, PackingPuzzle, Piece
from players.puzzles.cover.packing.search import PackingSearch
from players.puzzles.cover.packing.text import FAMILIES, packing_of_text

PUZZLES = Path(__file__).parents[1] / "games" / "puzzles"
OURS = {"burr": 1, "soma": 240, "pentominoes6x10": 2_339, "pentominoes3x4x5": 3_940}
"""What BurrTools counts too."""
RANGED = {
    "tetrominoes in 4x5": ("tetrominoes", 5, 5, 4, 454),
    "pentominoes in 5x5, each once at most": ("pentominoes", 1, 5, 5, 856),
    "pentominoes in 5x5": ("pentominoes", 5, 5, 5, 4_006),
}
"""Family, copies of each, size; all tilings, turns and reflections too."""
EXAMPLES = {
    "12PieceSeparation": [1],
    "AlPackino": [1],
    "AugmentedSecondStellation": [2],
    "BallRoom": [2, 1, 3],
    "Bermuda": [1],
    "BrokenSticks": [2, 0],
    "CubeInCage": [96],
    "DemoMirrorParadox": [1, 1],
    "DemoPieceGenerator": [928],
    "DiagonalCube": [2],
    "DraculasDentalDesaster": [84],
    "FourPieceTetrahedron": [1],
    "HexSticks": [33],
    "PelikanBurr": [12],
    "PermutatedThirdStellation": [2],
    "PiecesOfEight": [6, 4, 43, 12, 20, 12],
    "Prisgon": [1, 1],
    "SolidSixPieceBurrs": [588],
}
"""What its own program, burrTxt, counts in each problem of a file."""


def puzzles(name: str, examples: Path | None) -> list[tuple[PackingPuzzle, int, bool]]:
    """The puzzles of one name, their known counts, and whether these are of all solutions."""
    if name in OURS:
        return [(packing_of_text((PUZZLES / f"{name}.packing").read_text()), OURS[name], False)]
    if name in RANGED:
        family, most, x, y, count = RANGED[name]
        pieces = [
            Piece(CellShape.of(drawing, letter), 0, most) for letter, drawing in FAMILIES[family].items()
        ]
        return [(PackingPuzzle(grid("cubes"), tuple(pieces), CellShape.of([["#" * x] * y])), count, True)]
    assert examples is not None
    file = read_xmpuzzle(examples / f"{name}.xmpuzzle")
    return [(sound(p).puzzle, count, False) for p, count in zip(file.problems, EXAMPLES[name], strict=True)]


def solved(puzzle: PackingPuzzle, options: CoverOptions, *, every: bool) -> dict[str, object]:
    """What a search of one puzzle finds and takes."""
    began = time.process_time()
    search = PackingSearch(puzzle, options, every=every)
    built = time.process_time()
    while search.step(time.monotonic() + 1):
        search.taken()
    ended = time.process_time()
    result = search.result()
    return {
        "solutions": result.solutions,
        "nodes": result.nodes,
        "engine": result.engine,
        "build": built - began,
        "search": ended - built,
    }


def _one(name: str, examples: Path | None, options: CoverOptions, keep: bool) -> None:
    """Solve the puzzles of one name, and print a line of JSON for each."""
    solved(packing_of_text((PUZZLES / "soma.packing").read_text()), options, every=False)
    for number, (puzzle, known, whole) in enumerate(puzzles(name, examples), 1):
        print(json.dumps({"number": number, "known": known, **solved(puzzle, options, every=keep or whole)}))


def _row(name: str, runs: list[list[dict[str, object]]], keep: bool) -> bool:
    """Print the row of one name; whether its counts are those that are known."""
    first = runs[0]
    counts = [row["solutions"] for row in first]
    known = [row["known"] for row in first]
    seconds = [sum(float(str(row["build"])) + float(str(row["search"])) for row in run) for run in runs]
    nodes = sum(int(str(row["nodes"])) for row in first)
    right = keep or counts == known
    told = " ".join(map(str, counts)) + ("" if right else f" (not {known})")
    times = " ".join(f"{each:.3f}" for each in seconds)
    print(f"| {name} | {told} | {nodes:,} | {first[0]['engine']} | {times} |", flush=True)
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="which puzzles; all if absent")
    parser.add_argument("--examples", type=Path, help="a folder with BurrTools' examples")
    parser.add_argument("--engine", help="this one alone")
    parser.add_argument("--runs", type=int, default=2, help="processes for each puzzle")
    parser.add_argument("--keep-rotations", action="store_true", help="duplicates are counted too")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.names or [*OURS, *RANGED, *(EXAMPLES if arguments.examples else ())]
    if arguments.one:
        options = CoverOptions(engine=arguments.engine)
        _one(names[0], arguments.examples, options, arguments.keep_rotations)
        return 0
    print("| puzzle | solutions | nodes | engine | CPU seconds of each run |\n|---|---|---|---|---|")
    right = True
    passed = ["--one"]
    passed += ["--examples", str(arguments.examples)] if arguments.examples else []
    passed += ["--engine", arguments.engine] if arguments.engine else []
    passed += ["--keep-rotations"] if arguments.keep_rotations else []
    for name in names:
        line = [sys.executable, "-m", "bench.packing", name, *passed]
        runs = []
        for _ in range(arguments.runs):
            done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=3600)
            runs.append([json.loads(row) for row in done.stdout.splitlines()])
        right &= _row(name, runs, arguments.keep_rotations)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
