"""The kernels that players need, in parts (:mod:`propnet.jit.parts`), the most urgent first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING, Final

import numpy as np

from gdl.information import hides
from gdl.machine import Machine
from players.kaskade.stages import WARM_UP_GAMES
from players.solvers import LineSolver, master_of, solvers_named
from propnet.capabilities import lane_machine
from propnet.jit.parts import Part

if TYPE_CHECKING:
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


def _later(place: str, *games: int) -> Callable[[], None]:
    """The function ``module:name``, called with the machines of these games. It is imported when it is
    called, so that asking whether a part is compiled does not import it."""
    module, _, name = place.partition(":")

    def compile_part() -> None:
        getattr(import_module(module), name)(*map(_machine, games))

    return compile_part


NETWORK: Final[tuple[Part, ...]] = (("evaluate", _evaluate), ("states", _states))
"""For players that query a network about states."""
_ROOT: Final = ("root", _later("players.uct.tree.warm_up:warm_up_root"))
_PLAYOUTS: Final[tuple[Part, ...]] = (("playouts", _playouts), *NETWORK, _ROOT)
TREE: Final[tuple[Part, ...]] = (
    ("tree-up", _later("players.uct.tree.warm_up:warm_up_up")),
    ("tree-down", _later("players.uct.tree.warm_up:warm_up_down")),
    ("tree-keep", _later("players.uct.tree.warm_up:warm_up_keep")),
    ("tree-looks", _later("players.uct.tree.warm_up:warm_up_looks")),
    ("knowledge", _later("players.knowledge.training:warm_up")),
)
"""For UCT, on any machine."""
_BELIEFS: Final[tuple[Part, ...]] = (
    ("beliefs", _later("players.belief.lane_worlds:warm_up", 1)),
    ("sampled", _later("players.hidden.ismcts:warm_up", 1)),
)
_PLAYS_OUT = frozenset(("montecarlo", "greedy", "pimc", "ismcts", "expectimax", "cfr"))
"""Players that use lanes, other than those that search by UCT."""


def searches(players: Iterable[str]) -> bool:
    """Whether one of these players searches by UCT, which also plays where a table does not help."""
    return not _kinds(players).isdisjoint(("uct", "tables"))


def plays_out(players: Iterable[str]) -> bool:
    """Whether one of these players runs playouts, if there are lanes."""
    kinds = _kinds(players)
    return searches(kinds) or not kinds.isdisjoint(_PLAYS_OUT)


def _kinds(players: Iterable[str]) -> set[str]:
    return {name.partition(":")[0].strip().lower() for name in players}


def parts_for(
    players: Sequence[str], *, solvers: Sequence[type[LineSolver]] = (), hidden: bool = False
) -> list[Part]:
    """For matches between players of these names, on machines with lanes. UCT uses these puzzle ``solvers``
    in games of a single role; ``hidden``: some games hide information."""
    parts = list(_PLAYOUTS if plays_out(players) else NETWORK)
    if searches(players):
        parts += [*TREE, *(part for solver in solvers for part in solver_parts(solver))]
    return parts + list(_BELIEFS if hidden else ())


def match_parts(machine: Machine, players: Sequence[str]) -> list[Part]:
    """For a match of one game between players of these names."""
    hidden = hides(machine.rules)
    if len(machine.roles) > 1 or not searches(players):
        return parts_for(players, hidden=hidden)
    if master := master_of(machine):
        return [*NETWORK, _ROOT, *solver_parts(master)[: master.urgent]]
    lanes = lane_machine(machine)
    able = [solver for solver in solvers_named(None, own=False) if lanes and solver.recognise(lanes)]
    return parts_for(players, solvers=able, hidden=hidden)


def parts_named(names: Sequence[str]) -> list[Part]:
    """The parts of these names, in their order."""
    by_name = dict(parts_for(["uct"], solvers=solvers_named(None, own=False), hidden=True))
    return [(name, by_name[name]) for name in names]


def solver_parts(solver: type[LineSolver]) -> tuple[Part, ...]:
    """For one puzzle solver, the most urgent first."""
    return solver.warm_up_parts(partial(_machine, 0))
