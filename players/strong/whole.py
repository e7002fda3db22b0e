"""A whole game is solved, by its ranks if it has any, else as one set of states."""

from __future__ import annotations

from collections.abc import Callable

from players.strong.ranked.options import StrongOptions
from players.strong.ranked.solve import RankedSolver
from players.strong.ranked.space import UnfitError
from players.strong.solve import SolvedGame, solve_game
from players.strong.storage import TableWriter
from propnet.machine import PropnetMachine

Watch = Callable[[str, int, int], None]


def solve_whole(
    machine: PropnetMachine,
    options: StrongOptions,
    writer: TableWriter | None = None,
    watch: Watch = lambda *_: None,
) -> SolvedGame:
    """Find the value of every reachable state of a machine's game, or of one state of each orbit, and write
    the whole table of them, if there is a writer.

    Raises TooLargeError or OutOfRoomError for more states than there is room for, ScratchError, and GdlError
    for games whose value is not one in pure strategies.
    """
    try:
        solver = RankedSolver(machine, options, writer, watch)
    except UnfitError:
        return _plain(machine, options, writer, watch)
    over = False
    try:
        solved = solver.solve()
        if writer is not None:
            writer.finish(solved)
        # Only now, with the table whole, nothing else is needed.
        over = True
        return solved
    except UnfitError:
        over = True
        if writer is not None:
            writer.forget()
    finally:
        solver.close(over)
    return _plain(machine, options, writer, watch)


def _plain(
    machine: PropnetMachine, options: StrongOptions, writer: TableWriter | None, watch: Watch
) -> SolvedGame:
    if writer is None:
        return solve_game(machine, options.memory, watch=watch)
    solved = solve_game(machine, options.memory, writer.keep, watch)
    writer.finish(solved)
    return solved
