"""Cover problems: every engine, the counting memo, reductions, threads and saved searches, against all sets.

The problems are odd: no items, no options, options without items or that stand twice, minimum 0, weights,
colours, holes, items that nothing covers.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bench.truth.field import Case, Field
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.engines.memo import MemoCounter
from players.puzzles.cover.outcome import CoverOptions
from players.puzzles.cover.problem import CoverProblem
from players.puzzles.cover.search import ENGINES, CoverSearch

_NODES = 3
"""Nodes that an engine searches between two savings."""


def random_problem(rng: random.Random) -> CoverProblem:
    """Up to six items and ten options."""
    items, options = rng.randint(0, 6), rng.choice((0, 1, 2, 3, 5, 7, 9, 10))
    plain = rng.random() < 0.4
    most = rng.choice((1, 2, 3, 4))
    subsets = [sorted(rng.sample(range(items), rng.randint(0, min(most, items)))) for _ in range(options)]
    for place in range(options):
        if rng.random() < 0.2:
            subsets[place] = rng.choice(subsets)  # one that stands twice
    nodes = np.array([item for subset in subsets for item in subset], np.int32)
    count = len(nodes)
    minimum = np.array([rng.choice((0, 1, 1) if plain else (0, 0, 1, 1, 2)) for _ in range(items)], np.int32)
    wider = [0 if plain else rng.choice((0, 0, 1, 2)) for _ in range(items)]
    maximum = np.maximum(minimum + np.array(wider, np.int32), 1 if plain else 0).astype(np.int32)
    weights, colours = np.ones(count, np.int32), np.zeros(count, np.int32)
    may_be_hole, holes = np.zeros(items, np.bool_), None
    if not plain:
        if rng.random() < 0.5:
            weights = np.array([rng.choice((1, 1, 2, 3)) for _ in range(count)], np.int32)
        if items and rng.random() < 0.5:
            painted = rng.sample(range(items), rng.randint(1, min(2, items)))
            shades = np.array([rng.choice((0, 1, 1, 2)) for _ in range(count)], np.int32)
            colours = np.where(np.isin(nodes, painted), shades, 0).astype(np.int32)
            minimum[nodes[colours > 0]] = 0
        if rng.random() < 0.5:
            may_be_hole = np.array([rng.random() < 0.5 for _ in range(items)], np.bool_)
            holes = rng.choice((None, 0, 1, 2))
    starts = np.concatenate([[0], np.cumsum([len(subset) for subset in subsets])]).astype(np.int32)
    problem = CoverProblem(minimum, maximum, starts, nodes, weights, colours, may_be_hole, holes)
    problem.check()
    return problem


def is_solution(problem: CoverProblem, chosen: Sequence[int]) -> bool:
    """Whether these options are a solution: plain and slow, what engines are judged by."""
    if len(set(chosen)) < len(chosen):
        return False
    sums = np.zeros(problem.items, np.int64)
    colours: dict[int, list[int]] = {}
    coloured = problem.coloured()
    for option in chosen:
        for node in range(problem.starts[option], problem.starts[option + 1]):
            item = int(problem.nodes[node])
            sums[item] += problem.weights[node]
            colours.setdefault(item, []).append(int(problem.colours[node]))
    inside = (sums >= problem.minimum) & ((sums <= problem.maximum) | coloured)
    agree = all(
        len(shades) == 1 or (len(set(shades)) == 1 and shades[0] > 0)
        for item, shades in colours.items()
        if coloured[item]
    )
    empty = int((problem.may_be_hole & (sums == 0)).sum())
    return bool(inside.all()) and agree and (problem.holes is None or empty <= problem.holes)


def solutions_of(problem: CoverProblem) -> list[tuple[int, ...]]:
    """All sets of options that are solutions, in order."""
    options = range(problem.options)
    sets = (chosen for size in range(problem.options + 1) for chosen in combinations(options, size))
    return sorted(chosen for chosen in sets if is_solution(problem, chosen))


def _examine(rng: random.Random, case: Case) -> None:
    problem = random_problem(rng)
    case.text = repr(problem)
    true = solutions_of(problem)
    for name in (None, *ENGINES):
        if name is None or ENGINES[name].takes(problem):
            _check_search(case, problem, true, CoverOptions(name), rng)
    both = CoverOptions(workers=2, first=rng.choice((None, 1, 2)))
    _check_search(case, problem, true, both, rng)
    for kind in ENGINES.values():
        if kind.takes(problem):
            _check_saved(case, problem, true, kind)
    if MemoCounter.takes(problem):
        memo = MemoCounter(problem)
        memo.step(math.inf)
        case.equal("memo counts", memo.count, len(true))


def _check_search(
    case: Case, problem: CoverProblem, true: list[tuple[int, ...]], options: CoverOptions, rng: random.Random
) -> None:
    kind = options.engine or "search"
    for delivers in (True, False):
        search = CoverSearch(problem, CoverOptions(options.engine, options.workers, delivers, options.first))
        found = []
        while not search.step(math.inf):
            found += [tuple(chosen.tolist()) for chosen in search.taken()]
            if rng.random() < 0.5:
                saved = json.loads(json.dumps(search.saved()))
                search = CoverSearch.resumed(problem, saved, search.options)
        found += [tuple(chosen.tolist()) for chosen in search.taken()]
        result = search.result()
        if delivers:
            case.check(f"{kind} each once", len(found) == len(set(found)) and set(found) <= set(true))
            case.equal(f"{kind} number", len(found), result.solutions)
        if options.first is None:
            case.check(f"{kind} is complete", result.complete)
            case.equal(f"{kind} counts", result.solutions, len(true))
        elif result.complete:
            case.check(f"{kind} complete of the first", result.solutions >= min(len(true), options.first))
        else:
            case.check(f"{kind} first", result.solutions >= options.first and len(true) >= options.first)


def _check_saved(
    case: Case, problem: CoverProblem, true: list[tuple[int, ...]], kind: type[CoverEngine]
) -> None:
    """An engine that is saved and resumed every few nodes."""
    engine, found = kind(problem), []
    engine._budget = _NODES
    while not engine.step(0.0):
        found += [tuple(chosen.tolist()) for chosen in engine.taken()]
        engine = kind.resumed(problem, json.loads(json.dumps(engine.saved())))
        engine._budget = _NODES
    found += [tuple(chosen.tolist()) for chosen in engine.taken()]
    case.equal(f"{kind.name} resumed", sorted(found), true)


FIELD = Field("covers", _examine)
