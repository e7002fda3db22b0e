"""The process that solves one packing puzzle and makes the page that shows its pieces in 3D."""

from __future__ import annotations

import base64
import time
from pathlib import Path

from gdl.errors import GdlError
from gdl.reading import read_limited
from ggp.cover.drawings import page
from ggp.cover.instance import MOST_BYTES, PackingInstance, packing_instance
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.rule_files import games_folder
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverError

MEMORY = 3 * 1024**3
CPU_SECONDS = 900.0
_MOST_SOLUTIONS = 50
"""The search ends after this many solutions."""
_MOST_APART = 10
"""Solutions for which a disassembly is computed."""
BEAT = 0.3
"""Seconds between news."""


def _instance(request: JsonMessage, apart: bool) -> PackingInstance:
    name = str(request["name"])
    if request["data"]:
        data = base64.b64decode(request["data"])
    else:
        data = read_limited(games_folder() / "puzzles" / name, MOST_BYTES)
    found = packing_instance(Path(name or "puzzle"), data, None, every=False, apart=apart)
    if found is None:
        raise GdlError("this is not a packing puzzle", remedy="bring a .packing or .xmpuzzle file")
    return found


def solve(request: JsonMessage, send: Send) -> dict[str, object]:
    """Solve the bundled puzzle ``name``, or the one in ``data`` (base64), for at most ``seconds``.

    Returns:
        The number of ``solutions``, ``complete`` (whether these are all), the ``seconds`` used, ``apart``
        (whether the disassembly is shown), and the ``page`` of the pieces, empty without solutions.
    """
    began = time.monotonic()
    try:
        instance = _instance(request, apart=True)
    except CoverError:  # pieces of this grid do not slide, or the puzzle is invalid and fails again
        instance = _instance(request, apart=False)
    search = instance.search(CoverOptions(first=_MOST_SOLUTIONS), None)
    end = began + float(request["seconds"])
    while not search.step(min(end, time.monotonic() + BEAT)) and (now := time.monotonic()) < end:
        found_yet = search.result()
        seconds = round(now - began, 2)
        send("progress", solutions=found_yet.solutions, share=found_yet.progress, seconds=seconds)
    found = search.taken()
    result = search.result()
    seconds = time.monotonic() - began
    drawn = []
    for number, solution in enumerate(found[:_MOST_SOLUTIONS]):
        instance.apart = instance.apart and number < _MOST_APART
        drawn.append(instance.packed(solution))
    return {
        "title": instance.name,
        "solutions": len(found),
        "complete": result.complete,
        "seconds": round(seconds, 3),
        "apart": bool(drawn) and drawn[0].apart is not None,
        "page": page(instance.name, drawn) if drawn else "",
    }


def main() -> None:
    """Solve until the other end is gone."""
    answer_requests(solve, "packing", MEMORY, CPU_SECONDS)


if __name__ == "__main__":
    main()
