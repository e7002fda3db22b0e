"""Has everything compiled or loaded that a match needs, by playing the smallest games.

On a computer where nothing was compiled yet that takes longer than most startclocks.
"""

from __future__ import annotations

import time
from importlib import import_module

PROCESSES = ("ggp.keeper", "ggp.match_process", "players.kaskade_process", "players.uct_worker")
"""What processes of a match run."""


def warm_up(player: str, level: str) -> None:
    """Play with this kind of player on the machine of this level.

    Raises:
        GdlError: there is no such player or machine.
    """
    from gdl.parser import parse_rules
    from ggp.thinker import make_player
    from players.limits import WARM_UP_GAMES
    from players.machines import make_machine

    for game in WARM_UP_GAMES:
        machine = make_machine(parse_rules(game, "warm-up"), level)
        warmed = make_player(player, 0)
        state = machine.initial_state()
        warmed.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
        warmed.choose(state, time.monotonic() + 0.1)
        warmed.stop()


def warm_up_keeper() -> None:
    """Have what a keeper needs."""
    import_module("ggp.keeper")


def warm_up_all(player: str, level: str) -> None:
    """The same for all processes of a match, in this one alone: to be forked from afterwards
    (:mod:`players.fork_server`), so it starts no process and leaves no thread.

    Raises:
        GdlError: as :func:`warm_up`.
    """
    from players.kaskade import BOTTOM
    from players.kaskade_stages import warm_up_native, warm_up_propnet
    from players.registry import is_registered

    for module in PROCESSES:
        import_module(module)
    if level != BOTTOM:
        warm_up_propnet()
        warm_up_native()
    # Players from outside this program may hang: they are not tried.
    if is_registered(player):
        kind, _, options = player.partition(":")
        kept = [option for option in options.split(",") if option and not option.startswith("workers")]
        warm_up(kind + (":" + ",".join(kept) if kept else ""), level)
