"""Solves a whole game: by its ranks if it has any, otherwise as one set of states."""

from __future__ import annotations

from players.strong.layers import Keep, Watch, reachable, values_by_layers, values_by_rounds
from players.strong.outcomes import Outcomes, SolvedGame, known_distance
from players.strong.ranked.solve import RankedSolver, StrongOptions
from players.strong.ranked.space import UnfitError
from players.strong.storage import TableWriter
from propnet.machine import PropnetMachine


def solve_whole(
    machine: PropnetMachine,
    options: StrongOptions,
    writer: TableWriter | None = None,
    watch: Watch = lambda *_: None,
) -> SolvedGame:
    """Find the value of every reachable state of a machine's game, or of one state of each orbit. The writer,
    if there is one, gets the whole table.

    Raises TooLargeError or OutOfRoomError if the states do not fit, ScratchError, and GdlError for games
    whose value is not one in pure strategies.
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
        # Only now, with a complete table, are the other files not needed.
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


def solve_game(
    machine: PropnetMachine,
    memory: int,
    keep: Keep = lambda *_: None,
    watch: Watch = lambda *_: None,
) -> SolvedGame:
    """Find the value of every reachable state of a machine's game. (With a network whose next state is the
    smallest of its orbit, the states found are those of the orbits.)

    ``memory`` is the allowed size of the process in bytes. ``keep`` takes the states with their values, by
    the number of joint moves after which they are first reached, the last layer first; or all at once if
    plays may meet a state at different times. Raises TooLargeError for more states, GdlError for games whose
    value is not one in pure strategies (:mod:`players.strong.layers`).
    """
    found = reachable(machine, memory, watch)
    outcomes = Outcomes(len(machine.roles))
    sizes = [layer.count for layer in found.layers]
    start = found.rows(0)
    if found.layered:
        first, cyclic = values_by_layers(machine, found, outcomes, keep, watch), False
    else:
        first, cyclic = values_by_rounds(machine, found, outcomes, watch)
        keep(0, first)
    place = int((first.rows == start).all(axis=1).argmax())
    goals = outcomes.vectors[int(first.values[place])]
    return SolvedGame(machine, outcomes, sizes, cyclic, goals, known_distance(int(first.distances[place])))
