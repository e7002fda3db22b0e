"""``ggp warm``: compile everything once, so that no match waits for it."""

from __future__ import annotations

import typer


def command(
    player: str = typer.Option("uct", "--player", "-p", help="Also for the options of this player."),
) -> None:
    """Compile everything once, so that no match waits for it.

    If everything is compiled already, this takes a second or two. Kernels are cached in $NUMBA_CACHE_DIR,
    else in the program's folder, else in the user's cache folder. Without this command the first match
    compiles them: a weaker player plays meanwhile, and puzzles wait.
    """
    from ggp.warm import compile_all
    from players.processes.limits import cores
    from players.registry import check_name

    check_name(player)
    if not compile_all(player, cores()):
        raise typer.Exit(1)
