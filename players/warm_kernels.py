"""The kernels that players need, in parts that processes compile side by side, the most urgent first.

A process that finds a part locked by another one goes on with the next, and comes back at the end, when
usually the part only has to be loaded (:mod:`propnet.jit.kernel_cache`). So processes that start together
share the work without knowing each other: those of ``ggp warm``, fork servers, matches.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np

from players.kaskade.stages import WARM_UP_GAMES
from propnet.machine import PropnetMachine

Part = tuple[str, Callable[[], None]]
"""A name, and the function that compiles or loads it."""
LEARNT_GAME = (
    "(role a) (role b) (init (turn a)) (item 1) (item 2)"
    " (<= (legal ?r (take ?i)) (true (turn ?r)) (item ?i))"
    " (<= (legal a wait) (true (turn b))) (<= (legal b wait) (true (turn a)))"
    " (<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))"
    " (<= (next (taken ?i)) (does ?r (take ?i))) (<= (next (taken ?i)) (true (taken ?i)))"
    " (<= terminal (true (taken 1)) (true (taken 2)))"
    " (<= (goal a 100) (true (turn a))) (<= (goal a 0) (true (turn b)))"
    " (<= (goal b 100) (true (turn b))) (<= (goal b 0) (true (turn a)))"
)
"""One that startclocks would learn: two roles choose in turn, and it is symmetric."""


@cache
def _machine(number: int) -> PropnetMachine:
    from gdl.grounding.pipeline import ground
    from gdl.syntax.parser import parse_rules
    from propnet.build import build

    rules = parse_rules(WARM_UP_GAMES[number], "warm-up")
    return PropnetMachine(rules, build(ground(rules)))


def _machines() -> list[PropnetMachine]:
    return [_machine(number) for number in range(len(WARM_UP_GAMES))]


def _playouts() -> None:
    for machine in _machines():
        machine.playouts(1)


def _states() -> None:
    from players.batch_machine import batch_machine_of

    for machine in _machines():
        batch = batch_machine_of(machine)
        records = machine.records([machine.initial_state()])
        batch.legal(records)
        batch.successors(records, np.zeros((1, len(machine.roles)), np.int32))


def playout_parts() -> tuple[Part, ...]:
    """For every player that makes playouts on the network."""
    return ("playouts", _playouts), ("states", _states)


def tree_parts() -> tuple[Part, ...]:
    """For UCT, besides."""
    from players.knowledge.state_values import warm_up
    from players.uct.tree.tree import warm_up_down, warm_up_keep, warm_up_looks, warm_up_up

    return (
        ("tree-up", warm_up_up),
        ("tree-down", warm_up_down),
        ("tree-keep", warm_up_keep),
        ("tree-looks", warm_up_looks),
        ("knowledge", warm_up),
    )


def lesson_parts() -> tuple[Part, ...]:
    """For UCT in startclocks in which a game of several roles is learnt, besides."""
    return (("lesson", _lesson),)


def _lesson() -> None:
    from gdl.grounding.pipeline import ground
    from gdl.syntax.parser import parse_rules
    from players.knowledge.canonical_rules import canonical_names
    from players.knowledge.training import Training
    from players.uct.searched_play import PlayTerms
    from players.uct.searched_training import SearchedTraining
    from propnet.build import build

    rules = parse_rules(LEARNT_GAME, "warm-up")
    machine, names = PropnetMachine(rules, build(ground(rules))), canonical_names(rules)
    Training(machine, names).round()
    by_searches = SearchedTraining(machine, names, terms=PlayTerms(lanes=2, visits=2), patient=False)
    by_searches.round()
    by_searches.close()


def line_parts() -> tuple[Part, ...]:
    """For UCT in games of a single role, besides."""
    from players.puzzles.registry import SOLVERS

    return tuple((solver.name, partial(solver.warm_up, _machine(0))) for solver in SOLVERS)


def compile_together(parts: Sequence[Part]) -> None:
    """Compile or load these parts, sharing the work with other processes that do the same."""
    if not parts:
        return
    from propnet.kernels.playouts import playouts
    from propnet.storage.process_lock import ProcessLock

    folder = playouts._cache.cache_path
    locked: list[Callable[[], None]] = []
    for name, compile_part in parts:
        lock = ProcessLock(os.path.join(folder, f"part-{name}.lock")) if folder else None
        if lock is None or lock.take(0.0):
            compile_part()
            if lock is not None:
                lock.leave()
        else:
            locked.append(compile_part)
    for compile_part in locked:
        compile_part()
