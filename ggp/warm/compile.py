"""Compiles, or loads, everything that a match needs.

Where nothing was compiled yet that takes longer than most startclocks. ``python -m ggp.warm.compile PLAYER``
does it in a process of its own, which says on its standard output which kernels it compiles, as JSON lines:
``begun`` with a kernel's name, ``compiled`` with the name and ``seconds``.
"""

# mypy: disallow-untyped-calls=False, disallow-subclassing-any=False
# (numba has no types)

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

PROCESSES = (
    "ggp.match_process.safe_move_process",
    "ggp.match_process.thinking_process",
    "players.kaskade.builder",
    "players.knowledge.derived_propositions",
    "players.uct.play_processes",
    "players.uct.workers.worker",
)
"""What the processes of a match run."""


def warm_up(player: str, level: str, on_several: Callable[[], None] = lambda: None) -> None:
    """Have compiled what all players need, then play with this kind of player on the machine of this level.

    Args:
        player, level: names of a player and of the furthest machine that it will have.
        on_several: called as soon as everything is there for games of several roles. Startclocks in which
            such are learnt, and games of a single role need more.

    Raises:
        GdlError: there is no such player or machine.
    """
    from players.kaskade.stages import WARM_UP_GAMES
    from players.warm_kernels import compile_together, lesson_parts, line_parts, playout_parts, tree_parts

    # Players from outside this program, and those that only look at the rules, need no kernels.
    kind = player.partition(":")[0].strip().lower()
    searches = kind.startswith("uct") or kind == "tables"  # uct plays where a table does not help
    lanes = level != "prover" and (searches or kind in ("montecarlo", "greedy"))
    compile_together((playout_parts() if lanes else ()) + (tree_parts() if searches else ()))
    one_role, several_roles = WARM_UP_GAMES
    _play(player, level, several_roles)
    on_several()
    compile_together(line_parts() if lanes and searches else ())
    _play(player, level, one_role)
    compile_together(lesson_parts() if lanes and searches else ())


def _play(name: str, level: str, rules: str) -> None:
    from gdl.syntax.parser import parse_rules
    from players.kaskade.make_machine import make_machine
    from players.registry import make_player

    machine = make_machine(parse_rules(rules, "warm-up"), level)
    player = make_player(name, 0)
    state = machine.initial_state()
    player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    player.choose(state, time.monotonic() + 0.1)
    player.stop()


def warm_up_keeper() -> None:
    """Load what a keeper needs."""
    import_module("ggp.match_process.safe_move_process")


def warm_up_all(player: str, level: str) -> None:
    """Warm up for all processes of a match, in this one alone.

    They are forked from it afterwards (:mod:`players.processes.fork_server`), so it starts no process and
    leaves no thread. Raises GdlError as :func:`warm_up`.
    """
    from players.kaskade.kaskade import BOTTOM
    from players.kaskade.stages import warm_up_native, warm_up_propnet
    from players.registry import is_registered

    for module in PROCESSES:
        import_module(module)
    # Players from outside this program may hang: they are not tried.
    if is_registered(player):
        warm_up(alone(player), level)
    if level != BOTTOM:
        warm_up_propnet()
        warm_up_native()


def alone(player: str) -> str:
    """The player's name without the option that makes it start processes."""
    from players.spec import read_spec

    return str(read_spec(player).without("workers"))


def main() -> None:
    """Warm up for one player, and say what is compiled."""
    from numba.core import event

    out = os.fdopen(os.dup(1), "w")
    # What libraries print must not mix with the messages.
    os.dup2(2, 1)

    class Reporter(event.Listener):
        """Reports kernels, and not the functions that are compiled for them."""

        def __init__(self) -> None:
            self._begun: list[float] = []

        def on_start(self, occurrence: Any) -> None:
            self._begun.append(time.monotonic())
            if len(self._begun) == 1:
                self._report("begun", occurrence)

        def on_end(self, occurrence: Any) -> None:
            began = self._begun.pop()
            if not self._begun:
                self._report("compiled", occurrence, seconds=time.monotonic() - began)

        def _report(self, what: str, occurrence: Any, **fields: float) -> None:
            function = occurrence.data["dispatcher"].py_func
            out.write(json.dumps({what: f"{function.__module__}.{function.__name__}", **fields}) + "\n")
            out.flush()

    event.register("numba:compile", Reporter())
    warm_up_all(sys.argv[1], "auto")


if __name__ == "__main__":
    main()
