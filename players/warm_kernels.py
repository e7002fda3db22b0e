"""The kernels that players need, in parts that processes compile side by side, the most urgent first.

A process that finds a part locked by another one goes on with the next, and comes back at the end, when
usually the part only has to be loaded (:mod:`propnet.jit.kernel_cache`). So processes that start together
share the work without knowing each other: those of ``ggp warm``, fork servers, matches.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gdl.information import hides
from gdl.machine import Machine
from propnet.capabilities import lane_machine

if TYPE_CHECKING:
    from players.puzzles.solver import LineSolver
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
    from players.kaskade.stages import WARM_UP_GAMES
    from propnet.build import build
    from propnet.machine import PropnetMachine

    rules = parse_rules(WARM_UP_GAMES[number], "warm-up")
    return PropnetMachine(rules, build(ground(rules)))


def _machines() -> list[PropnetMachine]:
    from players.kaskade.stages import WARM_UP_GAMES

    return [_machine(number) for number in range(len(WARM_UP_GAMES))]


def _playouts() -> None:
    for machine in _machines():
        machine.playouts(1)


def _states() -> None:
    from players.batch_machine import batch_machine_of
    from players.uct.tree.tree import warm_up_root

    warm_up_root()

    for machine in _machines():
        batch = batch_machine_of(machine)
        records = machine.records([machine.initial_state()])
        batch.legal(records)
        batch.successors(records, np.zeros((1, len(machine.roles)), np.int32))


def playout_parts() -> tuple[Part, ...]:
    """For every player that makes playouts on the network."""
    return ("playouts", _playouts), ("states", _states)


def belief_parts() -> tuple[Part, ...]:
    """For every player of games of hidden information, besides."""
    return (("beliefs", _beliefs),)


def _beliefs() -> None:
    from players.belief.lane_worlds import warm_up

    warm_up(_machine(1))


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


def match_parts(machine: Machine, searches: bool, plays_out: bool) -> tuple[Part, ...]:
    """For a match of one game in a terminal, between players of which some search (UCT) or make playouts."""
    from players.uct.master_first import is_mastered

    states: tuple[Part, ...] = (("states", _states), *(belief_parts() if hides(machine.rules) else ()))
    if not searches:
        return (*playout_parts(), *states[1:]) if plays_out else states
    if is_mastered(machine):
        return *states, *_master_parts()
    if len(machine.roles) > 1:
        return *playout_parts(), *states[1:], *tree_parts(), *_proof_parts()
    from players.puzzles.registry import SOLVERS

    lanes = lane_machine(machine)
    able = {solver.name for solver in SOLVERS if lanes is not None and solver.recognise(lanes)}
    return *playout_parts(), *tree_parts(), *(part for part in line_parts() if part[0] in able)


def _master_parts() -> tuple[Part, ...]:
    from players.puzzles.sokoban.solver import warm_up_searches, warm_up_solved

    return ("sokoban-searches", warm_up_searches), ("sokoban-solved", warm_up_solved)


def _proof_parts() -> tuple[Part, ...]:
    from players.proof.search import warm_up

    return (("proofs", warm_up),)


def parts_named(names: Sequence[str]) -> list[Part]:
    """The parts of these names, in their order."""
    every = (
        *playout_parts(),
        *belief_parts(),
        *tree_parts(),
        *_proof_parts(),
        *_master_parts(),
        *line_parts(),
        *lesson_parts(),
    )
    known = dict(every)
    return [(name, known[name]) for name in names]


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
    from propnet.machine import PropnetMachine

    rules = parse_rules(LEARNT_GAME, "warm-up")
    machine, names = PropnetMachine(rules, build(ground(rules))), canonical_names(rules)
    Training(machine, names).round()
    by_searches = SearchedTraining(machine, names, terms=PlayTerms(lanes=2, visits=2), patient=False)
    by_searches.round()
    by_searches.close()


def line_parts() -> tuple[Part, ...]:
    """For UCT in games of a single role, besides."""
    from players.puzzles.registry import SOLVERS

    return tuple(map(line_part, SOLVERS))


def line_part(solver: type[LineSolver]) -> Part:
    """The part of one solver of such games."""
    return solver.name, partial(_line, solver)


def _line(solver: type[LineSolver]) -> None:
    solver.warm_up(_machine(0))


def compile_together(parts: Sequence[Part]) -> None:
    """Compile or load these parts, sharing the work with other processes that do the same."""
    if not parts:
        return
    from propnet.kernels.playouts import playouts
    from propnet.storage.file_store import ProcessLock

    folder = playouts._cache.cache_path
    stamp = _stamp()
    locked: list[Callable[[], None]] = []
    for name, compile_part in parts:
        lock = ProcessLock(os.path.join(folder, f"part-{name}.lock")) if folder else None
        if lock is None or lock.take(0.0):
            compile_part()
            if lock is not None:
                _note_done(folder, name, stamp)
                lock.leave()
        else:
            locked.append(compile_part)
    for compile_part in locked:
        compile_part()


def missing(parts: Sequence[Part]) -> list[Part]:
    """Those of some parts that no process has compiled yet, for the program as it is now; all of them where
    nothing can be kept."""
    from propnet.jit.blas import spare_import
    from propnet.kernels.playouts import playouts

    spare_import()
    folder, stamp = playouts._cache.cache_path, _stamp()
    return [part for part in parts if not folder or not os.path.exists(_done(folder, part[0], stamp))]


def _done(folder: str, name: str, stamp: str) -> str:
    """The file that says that a part was compiled."""
    return os.path.join(folder, f"part-{name}.{stamp}.done")


def _note_done(folder: str, name: str, stamp: str) -> None:
    """Note that a part is compiled, and forget for which programs it was compiled before."""
    with contextlib.suppress(OSError):
        for other in os.listdir(folder):
            if other.startswith(f"part-{name}.") and other.endswith(".done") and stamp not in other:
                os.unlink(os.path.join(folder, other))
        Path(_done(folder, name, stamp)).touch()


@cache
def _stamp() -> str:
    """What compiled kernels depend on: the program's files, numba, and the processor."""
    import llvmlite.binding
    import numba

    seen: list[object] = [numba.__version__, llvmlite.__version__, llvmlite.binding.get_host_cpu_name()]
    root = Path(__file__).resolve().parents[1]
    for package in ("propnet", "players"):
        for folder, _, files in sorted(os.walk(root / package)):
            stats = {name: os.stat(os.path.join(folder, name)) for name in files if name.endswith(".py")}
            seen += [(folder, name, one.st_mtime_ns, one.st_size) for name, one in sorted(stats.items())]
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:16]
