"""Solve puzzles with few states by the prover, breadth-first, before a network exists: loading the kernels of
the solvers takes longer than examining some thousand states.

>>> from gdl.syntax.parser import parse_rules
>>> rules = "(role you) (init (at 0)) (legal you go) (<= (next (at 1)) (does you go)) (goal you 100)"
>>> solution = solve_few_states(parse_rules(rules + "(<= terminal (true (at 1)))"))
>>> solution.value, solution.moves, solution.proven
(100, ('go',), True)
"""

from __future__ import annotations

import time
from collections.abc import Hashable

from gdl.errors import GdlError
from gdl.prover.limits import ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from players.solvers import Solution

NAME = "few-states"
"""The name of the solver for users."""
SECONDS = 0.3
"""The CPU seconds that it may take: a small part of the startup time of the solvers."""


def solve_few_states(rules: Rules, seconds: float = SECONDS) -> Solution | None:
    """Return the best line, proven, or the proof that no line ends the match. Returns None if the time does
    not suffice, if there is more than one role, or if the prover raises an error: the other solvers report
    it.

    Args:
        rules: the game.
        seconds: CPU seconds.
    """
    if seconds <= 0:
        return None
    try:
        return _search(rules, seconds)
    except GdlError:
        return None


def _search(rules: Rules, seconds: float) -> Solution | None:
    began = time.thread_time()
    prover = ProverMachine(rules, ProverLimits(seconds=seconds))
    if len(prover.roles) != 1:
        return None
    start = prover.initial_state()
    if prover.is_terminal(start):
        return Solution(prover.result(start, 0) or 0, (), True, "", 0, 0.0)
    came: dict[Hashable, tuple[Hashable, int] | None] = {start.key: None}
    waiting, best, end = [start], -1, start.key
    for state in waiting:  # the list grows
        for move in prover.legal_moves(state, 0):
            after = prover.next_state(state, [move])
            if after.key not in came:
                came[after.key] = state.key, move
                if not prover.is_terminal(after):
                    waiting.append(after)
                elif (value := prover.result(after, 0) or 0) > best:
                    best, end = value, after.key
            if time.thread_time() > began + seconds:
                return None
        if best == 100:
            break
    moves: list[str] = []
    while (step := came[end]) is not None:
        end, move = step
        moves.append(rules.spell(prover.move(0, move)))
    return Solution(best, tuple(reversed(moves)), True, NAME, len(came), time.thread_time() - began)
