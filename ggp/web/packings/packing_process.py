"""The process that solves one packing puzzle and makes the page that shows its pieces in space."""

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
from players.puzzles.cover.outcome import CoverOptions, CoverResult
from players.puzzles.cover.problem import CoverError

MEMORY = 3 * 1024**3
CPU_SECONDS = 900.0
MOST_SOLUTIONS = 50
"""So many are shown; the search ends then."""
MOST_APART = 10
"""Solutions that are taken apart."""
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
        raise GdlError("this is no packing puzzle", remedy="bring a .packing or .xmpuzzle file")
    return found


def solve(request: JsonMessage, send: Send) -> dict[str, object]:
    """The solutions of the puzzle ``name`` that comes along, or of ``data`` (base64): how many were found in
    ``seconds``, whether that is all, and the page of their pieces, empty without solutions."""
    began = time.monotonic()
    try:
        instance = _instance(request, apart=True)
    except CoverError:  # of a grid whose pieces do not slide, or with a fault that comes again
        instance = _instance(request, apart=False)
    told = began

    def watch(result: CoverResult) -> None:
        nonlocal told
        now = time.monotonic()
        if now >= told + BEAT:
            told = now
            send("progress", solutions=result.solutions, share=result.progress, seconds=round(now - began, 2))

    search = instance.search(CoverOptions(first=MOST_SOLUTIONS), watch, None)
    end = began + float(request["seconds"])
    while search.step(min(end, time.monotonic() + BEAT)) and time.monotonic() < end:
        pass
    found = search.taken()
    result = search.result()
    seconds = time.monotonic() - began
    drawn = []
    for number, solution in enumerate(found[:MOST_SOLUTIONS]):
        instance.apart = instance.apart and number < MOST_APART
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
