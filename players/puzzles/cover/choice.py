"""Which engine searches a cover problem: by what a node costs, estimated, and where that is close, tried."""

from __future__ import annotations

import time
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

import numpy as np

import players.puzzles.cover.engines as folder
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.problem import CoverError, CoverProblem

_NAMES = "masks", "cells", "bitset"
_CLOSE = 5.0
"""Estimates whose ratio is larger are believed."""
_TRIAL_NODES = 2_000
_SMALL = 5_000
"""Options times items of a problem that is not worth the trial."""


def engine_names() -> list[str]:
    """The names of all engines: modules of the folder."""
    known = {module.name for module in iter_modules(folder.__path__)}
    return [name for name in _NAMES if name in known]


def engine_named(name: str) -> type[CoverEngine]:
    """The engine of this name. Raises CoverError if there is none."""
    if name not in engine_names():
        raise CoverError(f"there is no engine {name!r}", remedy="one of " + ", ".join(engine_names()))
    module = import_module(f"{folder.__name__}.{name}")
    for kind in vars(module).values():
        if isinstance(kind, type) and issubclass(kind, CoverEngine) and not isabstract(kind):
            return kind
    raise CoverError(f"{name!r} is no engine")


def choose_engine(problem: CoverProblem) -> type[CoverEngine]:
    """The engine for a problem. Raises CoverError if none takes it."""
    costs = node_costs(problem)
    named = [engine_named(name) for name in sorted(costs, key=costs.__getitem__)]
    kinds = [kind for kind in named if kind.takes(problem)]
    if any(kind.name == "bitset" for kind in kinds):
        # It does the same as these, for fewer problems.
        kinds = [kind for kind in kinds if kind.name != "masks"]
    if not kinds:
        raise CoverError("no engine takes this problem", remedy="ask for one by its name to see why")
    if problem.options * problem.items < _SMALL:
        return kinds[0]
    close = [kind for kind in kinds if costs[kind.name] <= _CLOSE * costs[kinds[0].name]]
    return kinds[0] if len(close) == 1 else min(close, key=lambda kind: _tried(kind, problem))


def node_costs(problem: CoverProblem) -> dict[str, float]:
    """About how many nanoseconds a node of the search takes each engine; measured on queens, dominoes,
    sudokus and pentominoes (see docs/measurements.md).

    Sets of options cost a word for 64 options in each item that must be covered, dancing cells what is moved:
    all nodes of the options that collide with one.
    """
    words = problem.options / 64 + 1
    sizes = np.bincount(problem.nodes, minlength=problem.items)
    length = len(problem.nodes) / max(problem.options, 1)
    moved = float(sizes[problem.nodes].sum()) / max(problem.options, 1) * length
    must = int((problem.minimum > 0).sum()) + int(problem.may_be_hole.sum()) * (problem.holes is not None)
    sets = 0.05 * words * must
    costs = {"bitset": 60 + 0.05 * sets, "masks": 100 + sets, "cells": 250 + 0.7 * moved}
    return {name: cost for name, cost in costs.items() if name in engine_names()}


def _tried(kind: type[CoverEngine], problem: CoverProblem) -> float:
    """CPU seconds for some nodes, after a few that load the kernels."""
    engine = kind(problem, delivers=False)
    engine.step(float("inf"), _TRIAL_NODES // 10)
    before, began = engine.nodes, time.thread_time()
    if engine.step(float("inf"), _TRIAL_NODES):
        return (time.thread_time() - began) / max(engine.nodes - before, 1)
    return (time.thread_time() - began) / _TRIAL_NODES
