"""The kernels that players need, in parts that processes compile in parallel, the most urgent first.

A process that finds a part locked by another one goes on with the next, and returns to it at the end, when
the part usually only has to be loaded (:mod:`propnet.jit.decorators`). In this way processes that start
together share the work without knowing each other: those of ``ggp warm``, fork servers, matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from gdl.information import hides
from gdl.machine import Machine
from players.kaskade.stages import WARM_UP_GAMES
from players.processes.compiled_parts import (
    Part,
    folder_of_parts,
    is_compiled,
    note_compiled,
    program_stamp,
)
from players.solvers import master_of, solvers_named
from propnet.capabilities import lane_machine

if TYPE_CHECKING:
    from players.solvers import LineSolver
    from propnet.machine import PropnetMachine


@cache
def _machine(number: int) -> PropnetMachine:
    from gdl.grounding.pipeline import ground
    from gdl.syntax.parser import parse_rules
    from propnet.build import build
    from propnet.machine import PropnetMachine

    rules = parse_rules(WARM_UP_GAMES[number], "warm-up")
    return PropnetMachine(rules, build(ground(rules)))


def _machines() -> list[PropnetMachine]:

    return [_machine(number) for number in range(len(WARM_UP_GAMES))]


def _playouts() -> None:
    for machine in _machines():
        machine.playouts(1)


def _evaluate() -> None:
    for machine in _machines():
        machine.evaluate(machine.records([machine.initial_state()]))


def _states() -> None:
    for machine in _machines():
        state = machine.initial_state()
        machine.successors(machine.records([state]), np.zeros((1, len(machine.roles)), np.int32))
        machine.options(state)
        machine.goal(state, 0)


def _later(place: str) -> Callable[[], None]:
    """The function ``module:name``, imported when it is called, so that asking whether a part is compiled
    does not import it."""
    module, _, name = place.partition(":")

    def compile_part() -> None:
        getattr(import_module(module), name)()

    return compile_part


_root = _later("players.uct.tree.warm_up:warm_up_root")


def network_parts() -> tuple[Part, ...]:
    """For players that query a network about states."""
    return ("evaluate", _evaluate), ("states", _states)


def playout_parts() -> tuple[Part, ...]:
    """For every player that runs playouts on the network."""
    return ("playouts", _playouts), *network_parts(), ("root", _root)


def belief_parts() -> tuple[Part, ...]:
    """Additional parts for every player of games of hidden information."""
    return ("beliefs", _beliefs), ("sampled", _sampled)


def _beliefs() -> None:
    from players.belief.lane_worlds import warm_up

    warm_up(_machine(1))


def _sampled() -> None:
    from players.hidden.ismcts import warm_up

    warm_up(_machine(1))


def tree_parts() -> tuple[Part, ...]:
    """Additional parts for UCT."""
    return (
        ("tree-up", _later("players.uct.tree.warm_up:warm_up_up")),
        ("tree-down", _later("players.uct.tree.warm_up:warm_up_down")),
        ("tree-keep", _later("players.uct.tree.warm_up:warm_up_keep")),
        ("tree-looks", _later("players.uct.tree.warm_up:warm_up_looks")),
        ("knowledge", _later("players.knowledge.training:warm_up")),
    )


def match_parts(machine: Machine, searches: bool, plays_out: bool) -> tuple[Part, ...]:
    """For a match of one game in a terminal, between players some of which search (UCT) or run playouts."""
    beliefs = belief_parts() if hides(machine.rules) else ()
    if not searches:
        return *(playout_parts() if plays_out else network_parts()), *beliefs
    if len(machine.roles) > 1:
        return *search_parts(), *beliefs
    if master := master_of(machine):
        return *network_parts(), ("root", _root), *solver_parts(master)[: master.urgent]
    lanes = lane_machine(machine)
    able = [solver for solver in solvers_named(None, own=False) if lanes and solver.recognise(lanes)]
    return *playout_parts(), *tree_parts(), *(part for solver in able for part in solver_parts(solver))


PLAYS_OUT = ("montecarlo", "greedy", "pimc", "ismcts", "expectimax", "cfr")
"""Players that use lanes, other than those that search by UCT."""


def tournament_parts(players: Iterable[str], alone: bool, hidden: bool) -> tuple[Part, ...]:
    """For matches of several games between players of these names, on machines with lanes. ``alone``: some
    games have one role; ``hidden``: some hide information."""
    kinds = {name.partition(":")[0].strip().lower() for name in players}
    beliefs = belief_parts() if hidden else ()
    if any(kind.startswith("uct") or kind == "tables" for kind in kinds):
        return *search_parts(), *(line_parts() if alone else ()), *beliefs
    return *(network_parts() if kinds.isdisjoint(PLAYS_OUT) else playout_parts()), *beliefs


def search_parts() -> tuple[Part, ...]:
    """For UCT in games of several roles."""
    return *playout_parts(), *tree_parts(), *_proof_parts()


def _proof_parts() -> tuple[Part, ...]:
    return (("proofs", _later("players.proof.search:warm_up")),)


def parts_named(names: Sequence[str]) -> list[Part]:
    """The parts of these names, in their order."""
    every = (
        *playout_parts(),
        *belief_parts(),
        *tree_parts(),
        *_proof_parts(),
        *line_parts(),
    )
    by_name = dict(every)
    return [(name, by_name[name]) for name in names]


def line_parts() -> tuple[Part, ...]:
    """Additional parts for UCT in games of a single role."""
    return tuple(part for solver in solvers_named(None, own=False) for part in solver_parts(solver))


def solver_parts(solver: type[LineSolver]) -> tuple[Part, ...]:
    """For one puzzle solver, the most urgent first."""
    return solver.warm_up_parts(partial(_machine, 0))


def compile_together(parts: Sequence[Part]) -> None:
    """Compile or load these parts, sharing the work with other processes that do the same."""
    from propnet.jit.blas import spare_import
    from propnet.storage.process_lock import ProcessLock

    program_stamp()  # the program may change while kernels are compiled: notes describe the code loaded now
    spare_import()  # also for kernels that are compiled already

    folder = folder_of_parts()
    locked: list[Callable[[], None]] = []
    for name, compile_part in parts:
        lock = ProcessLock(str(folder / f"part-{name}.lock")) if folder else None
        if lock is None or lock.take(0.0):
            compile_part()
            if lock is not None:
                note_compiled(name)
                lock.leave()
        else:
            locked.append(compile_part)
    for compile_part in locked:
        compile_part()


def missing(parts: Sequence[Part]) -> list[Part]:
    """The parts that no process has compiled yet for the current program; all of them if nothing can be
    cached. It imports neither numba nor kernels."""
    return [part for part in parts if not is_compiled(part[0])]
