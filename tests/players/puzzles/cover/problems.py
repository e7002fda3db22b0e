"""Small random cover problems with everything that there is: bounds, weights, colours, holes; as JSON."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import strategies as st

from players.puzzles.cover.problem import CoverProblem


@st.composite
def cover_problems(draw: st.DrawFn, options: int = 8, items: int = 5, plain: bool = False) -> CoverProblem:
    """Problems of at most so many options and items; `plain` ones are exact covers with optional items."""
    count = draw(st.integers(1, items))
    coloured = [not plain and draw(st.integers(0, 4)) == 0 for _ in range(count)]
    bounds = []
    for item in range(count):
        if plain or coloured[item]:
            low = 0 if coloured[item] else draw(st.integers(0, 1))
            bounds.append((low, 1))
        else:
            low = draw(st.integers(0, 2))
            bounds.append((low, low + draw(st.integers(0, 2))))
    starts, nodes, weights, colours = [0], [], [], []
    for _ in range(draw(st.integers(0, options))):
        for item in sorted(draw(st.sets(st.integers(0, count - 1), max_size=count))):
            nodes.append(item)
            weights.append(1 if plain else draw(st.sampled_from([1, 1, 1, 2])))
            colours.append(draw(st.integers(0, 2)) if coloured[item] else 0)
        starts.append(len(nodes))
    holes = None if plain else draw(st.none() | st.integers(0, count))
    problem = CoverProblem(
        np.array([low for low, _ in bounds], np.int32),
        np.array([high for _, high in bounds], np.int32),
        np.array(starts, np.int32),
        np.array(nodes, np.int32),
        np.array(weights, np.int32),
        np.array(colours, np.int32),
        np.array([not plain and draw(st.booleans()) for _ in range(count)], np.bool_),
        holes,
    )
    problem.check()
    return problem


def as_json(problem: CoverProblem) -> str:
    """The text of a problem; items are called by their numbers."""
    items = [
        {"name": str(item), "min": int(low), "max": int(high), "hole": bool(hole)}
        for item, (low, high, hole) in enumerate(
            zip(problem.minimum, problem.maximum, problem.may_be_hole, strict=True)
        )
    ]
    options = []
    for option in range(problem.options):
        nodes: list[dict[str, object]] = []
        for node in range(problem.starts[option], problem.starts[option + 1]):
            entry: dict[str, object] = {
                "item": str(problem.nodes[node]),
                "weight": int(problem.weights[node]),
            }
            if problem.colours[node]:
                entry["colour"] = str(problem.colours[node])
            nodes.append(entry)
        options.append(nodes)
    holes = {} if problem.holes is None else {"holes": problem.holes}
    return json.dumps({"items": items, "options": options, **holes})
