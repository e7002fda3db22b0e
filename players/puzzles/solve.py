"""Solves a one-player game without a match: the portfolio alone, until its best line is proven or time is up.

>>> from gdl.syntax.parser import parse_rules
>>> from players.kaskade.make_machine import make_machine
>>> rules = "(role you) (init (at 0)) (legal you go) (<= (next (at 1)) (does you go)) (goal you 100)"
>>> machine = make_machine(parse_rules(rules + "(<= terminal (true (at 1)))"), "propnet")
>>> solution = solve(machine, seconds=10.0)
>>> solution.value, solution.moves, solution.proven
(100, ('go',), True)
"""

from __future__ import annotations

import time
from collections.abc import Callable

from gdl.errors import GdlError
from gdl.machine import Machine
from players.puzzles.portfolio import BestLine, Portfolio
from players.puzzles.solver import Solution, highest_goal
from propnet.capabilities import lane_machine

MEMORY_BYTES = 600 * 1024**2
_STEP_SECONDS = 0.05
_LOOK_SECONDS = 0.2
"""How often a watcher is told, about."""


Watcher = Callable[[Solution, list[str]], None]
"""Takes what is known so far, and the names of the solvers still at work."""


def solve(
    machine: Machine,
    seconds: float,
    *,
    memory: int = MEMORY_BYTES,
    seed: int = 0,
    number: int = 0,
    only: str | None = None,
    watch: Watcher | None = None,
) -> Solution:
    """The best line from the initial state that is found in some wall time.

    Args:
        machine: a machine with lanes, of a game of one role.
        seconds: wall time; it returns earlier when the best line is proven or no solver goes on.
        memory: bytes that the solvers may take together.
        seed: what their randomness comes from.
        number: which of several such searches side by side this is, from 0.
        only: the name of the one solver that is wanted.
        watch: is called about five times a second.

    Raises:
        GdlError: the game has several roles, or there is no such solver, or it can do nothing here.
    """
    began, clock = time.monotonic(), time.process_time()
    if len(machine.roles) != 1:
        raise GdlError(
            f"this game has {len(machine.roles)} roles, and only a puzzle of one role can be solved"
        )
    start, line = machine.initial_state(), BestLine()
    if machine.is_terminal(start):
        return Solution(machine.result(start, 0) or 0, (), True, "", 0, 0.0)
    portfolio = Portfolio(machine, start, line, memory, seed, number, only)
    if not portfolio.active and not number:
        raise GdlError(
            f"the solver {only!r} does not recognise this game" if only else "no solver recognises this game",
            remedy="try others with --solver, or play it: ggp play GAME",
        )

    lanes = lane_machine(machine)
    perfect = 100 if lanes is None else highest_goal(lanes.network)

    def so_far() -> Solution:
        moves = tuple(machine.rules.spell(term) for term in line.terms(machine))
        proven = portfolio.value >= 0 or portfolio.hopeless or line.value >= perfect
        used = time.process_time() - clock
        return Solution(line.value, moves, proven, portfolio.solver, portfolio.states, used)

    looked = began
    while portfolio.active and line.value < perfect and (now := time.monotonic()) < began + seconds:
        portfolio.step(_STEP_SECONDS, min(now + _STEP_SECONDS, began + seconds))
        if watch is not None and time.monotonic() > looked + _LOOK_SECONDS:
            looked = time.monotonic()
            watch(so_far(), portfolio.at_work)
    return so_far()
