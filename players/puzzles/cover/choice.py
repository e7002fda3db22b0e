"""Which engine searches a cover problem."""

from __future__ import annotations

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

import players.puzzles.cover.engines as folder
from players.puzzles.cover.engines.engine import CoverEngine
from players.puzzles.cover.problem import CoverError, CoverProblem

_PREFERRED = "bitset", "cells", "links", "masks"


def engine_names() -> list[str]:
    """The names of all engines: modules of the folder."""
    known = {module.name for module in iter_modules(folder.__path__)}
    return [name for name in _PREFERRED if name in known]


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
    for name in engine_names():
        engine = engine_named(name)
        if engine.takes(problem):
            return engine
    raise CoverError("no engine takes this problem", remedy="ask for one by its name to see why")
