"""Has everything compiled or loaded that a match needs.

On a computer where nothing was compiled yet that takes longer than most startclocks. ``python -m ggp.warm
PLAYER`` does it in a process, and says on its standard output which kernels it compiles, as JSON: one
object per line, ``begun`` with a kernel's name, ``compiled`` with name and ``seconds``.
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
    "ggp.match_process.main",
    "players.kaskade.builder_process",
    "players.uct.workers.worker",
)
"""What processes of a match run."""


def warm_up(player: str, level: str, on_several: Callable[[], None] = lambda: None) -> None:
    """Have compiled what all players need, then play with this kind of player on the machine of this level.

    Args:
        player, level: names of a player and of the furthest machine that it will have.
        on_several: called when all is there that games of several roles need. Those of a single role
            need more.

    Raises:
        GdlError: there is no such player or machine.
    """
    from players.processes.warm_up_games import WARM_UP_GAMES
    from players.warm_kernels import LINES, PLAYOUTS, TREE, compile_together

    # Players from outside this program, and those that only look at the rules, need none.
    kind = player.partition(":")[0].strip().lower()
    searches = kind.startswith("uct")
    lanes = level != "prover" and (searches or kind in ("montecarlo", "greedy"))
    compile_together((PLAYOUTS if lanes else ()) + (TREE if searches else ()))
    alone, several = WARM_UP_GAMES
    _play(player, level, several)
    on_several()
    compile_together(LINES if lanes and searches else ())
    _play(player, level, alone)


def _play(player: str, level: str, game: str) -> None:
    from gdl.syntax.parser import parse_rules
    from players.kaskade.make_machine import make_machine
    from players.registry import make_player

    machine = make_machine(parse_rules(game, "warm-up"), level)
    warmed = make_player(player, 0)
    state = machine.initial_state()
    warmed.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    warmed.choose(state, time.monotonic() + 0.1)
    warmed.stop()


def warm_up_keeper() -> None:
    """Have what a keeper needs."""
    import_module("ggp.match_process.safe_move_process")


def warm_up_all(player: str, level: str) -> None:
    """The same for all processes of a match, in this one alone: to be forked from afterwards
    (:mod:`players.processes.fork_server`), so it starts no process and leaves no thread.

    Raises:
        GdlError: as :func:`warm_up`.
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
    """The player's name without the option that has it start processes."""
    kind, _, options = player.partition(":")
    kept = [option for option in options.split(",") if option and not option.startswith("workers")]
    return kind + (":" + ",".join(kept) if kept else "")


def main() -> None:
    """Do it for one player, and say what is compiled."""
    from numba.core import event

    out = os.fdopen(os.dup(1), "w")
    # What libraries print must not mix with the messages.
    os.dup2(2, 1)

    class Teller(event.Listener):
        """Tells of kernels, and not of the functions that are compiled for them."""

        def __init__(self) -> None:
            self._begun: list[float] = []

        def on_start(self, found: Any) -> None:
            self._begun.append(time.monotonic())
            if len(self._begun) == 1:
                self._tell("begun", found)

        def on_end(self, found: Any) -> None:
            began = self._begun.pop()
            if not self._begun:
                self._tell("compiled", found, seconds=time.monotonic() - began)

        def _tell(self, what: str, found: Any, **fields: float) -> None:
            function = found.data["dispatcher"].py_func
            out.write(json.dumps({what: f"{function.__module__}.{function.__name__}", **fields}) + "\n")
            out.flush()

    event.register("numba:compile", Teller())
    warm_up_all(sys.argv[1], "auto")


if __name__ == "__main__":
    main()
