"""What the players have compiled, in parts that processes compile side by side, what is needed first first.

A process that finds a part taken by another one goes on with the next, and comes back for it at the end,
when mostly it only has to be loaded (:mod:`propnet.jit.kernel_cache`). So any number of processes that start
together share the work without knowing of each other: those of ``ggp warm``, fork servers, matches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import numpy as np

from players.processes.warm_up_games import WARM_UP_GAMES
from propnet.machine import PropnetMachine

Part = tuple[str, Callable[[], None]]
"""A name, and what has it compiled or loaded."""


@cache
def _machines() -> list[PropnetMachine]:
    from gdl.grounding.pipeline import ground
    from gdl.syntax.parser import parse_rules
    from propnet.build import build

    games = [parse_rules(game, "warm-up") for game in WARM_UP_GAMES]
    return [PropnetMachine(rules, build(ground(rules))) for rules in games]


def _playouts() -> None:
    for machine in _machines():
        machine.playouts(1)


def _states() -> None:
    from players.batch_machine import batch_machine_of

    for machine in _machines():
        lanes = batch_machine_of(machine)
        records = machine.records([machine.initial_state()])
        lanes.legal(records)
        lanes.successors(records, np.zeros((1, len(machine.roles)), np.int32))


def _down() -> None:
    from players.uct.tree.tree import warm_up_down

    warm_up_down()


def _up() -> None:
    from players.uct.tree.tree import warm_up_up

    warm_up_up()


def _keep() -> None:
    from players.uct.tree.tree import warm_up_keep

    warm_up_keep()


PLAYOUTS: Final[tuple[Part, ...]] = (("playouts", _playouts), ("states", _states))
"""What every player needs that plays games out on the network."""

TREE: Final[tuple[Part, ...]] = (("tree-up", _up), ("tree-down", _down), ("tree-keep", _keep))
"""What UCT needs besides."""


def solver_parts() -> list[Part]:
    """What it needs besides in games of a single role: the kernels of all puzzle solvers."""
    from players.puzzles.registry import SOLVERS

    return [(solver.name, lambda kind=solver: kind.warm_up(_machines()[0])) for solver in SOLVERS]  # type: ignore[misc]


def compile_together(parts: Sequence[Part]) -> None:
    """Have these parts compiled or loaded, sharing the work with other processes that do the same."""
    if not parts:
        return
    from propnet.jit.kernel_cache import Lock
    from propnet.kernels.playouts import playouts

    folder = playouts._cache.cache_path
    taken: list[Part] = []
    for name, have in parts:
        lock = Lock(os.path.join(folder, f"part-{name}.lock")) if folder else None
        if lock is None or lock.take(0.0):
            have()
            if lock is not None:
                lock.leave()
        else:
            taken.append((name, have))
    for _, have in taken:
        have()
