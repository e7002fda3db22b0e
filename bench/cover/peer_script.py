"""What xcover and exact-cover (PyPI) take for a problem. By the Python that has them.

    PYTHON bench/cover/peer_script.py < REQUEST

The request is a JSON object: `peer`, `tells` (whether all solutions are wanted, or only their number),
`seconds` (stop repeating after so many), and the problem: `starts`, `nodes`, `colours`, and `primary`, the
number of items that must be covered, which come first; `items` is the number of all. Prints a JSON object:
`solutions`, `seconds` (CPU, the least of several runs).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def by_xcover(problem: dict[str, Any], tells: bool) -> Callable[[], int]:
    """A search by xcover's dancing cells, on arrays as its own functions make them."""
    from xcover import algorithm_c

    arrays = [np.array(problem[name], np.uint32) for name in ("nodes", "starts", "colours")]
    secondary = problem["items"] - problem["primary"]

    def search() -> int:
        found = algorithm_c(*arrays, problem["items"], secondary)
        return len(list(found)) if tells else sum(1 for _ in found)

    return search


def by_exact_cover(problem: dict[str, Any], tells: bool) -> Callable[[], int]:
    """A search by exact-cover's dancing links, on a matrix; a row of its own fills each optional item."""
    import exact_cover
    from exact_cover.error import NoSolution

    rows, optional = len(problem["starts"]) - 1, range(problem["primary"], problem["items"])
    matrix = np.zeros((rows + len(optional), problem["items"]), np.int32)
    matrix[np.repeat(np.arange(rows), np.diff(problem["starts"])), problem["nodes"]] = 1
    for row, item in enumerate(optional, rows):
        matrix[row, item] = 1

    def search() -> int:
        if not tells:
            return int(exact_cover.get_solution_count(matrix))
        try:
            # It counts before it lists, unless it is told how many there are.
            return len(exact_cover.get_all_solutions(matrix, max_count=problem["solutions"] + 1))
        except NoSolution:
            return 0

    return search


PEERS = {"xcover": by_xcover, "exact-cover": by_exact_cover}
TINY = {
    "starts": [0, 1, 2, 4],
    "nodes": [0, 1, 0, 1],
    "colours": [0, 0, 0, 0],
    "primary": 2,
    "items": 2,
    "solutions": 2,
}


def main() -> None:
    """Answer the request."""
    request = json.loads(sys.stdin.read())
    peer = PEERS[request["peer"]]
    peer(TINY, request["tells"])()  # loads what it has compiled
    least, spent, count = float("inf"), 0.0, 0
    search = peer(request, request["tells"])
    while spent < request["seconds"]:
        began = time.process_time()
        count = search()
        took = time.process_time() - began
        least, spent = min(least, took), spent + took
    print(json.dumps({"solutions": count, "seconds": least}))


main()
