"""A whole game is solved: by its ranks if it has any, else as one set of states."""

from __future__ import annotations

from players.strong.layers import Keep, Watch, reachable, values_by_layers, values_by_rounds
from players.strong.outcomes import Outcomes, SolvedGame, known_distance
from players.strong.ranked.solve import RankedSolver, StrongOptions
from players.strong.ranked.space import UnfitError
from players.strong.sets import SetSignature
from players.strong.storage import TableWriter
from propnet.machine import PropnetMachine


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


def solve_game(
    machine: PropnetMachine,
    memory: int,
    keep: Keep = lambda *_: None,
    watch: Watch = lambda *_: None,
) -> SolvedGame:
    """Find the value of every reachable state of a machine's game. (A network whose next state is the
    smallest of its orbit makes a machine of orbits, whose states are then what is found.)

    ``memory`` is the size that the process may have, in bytes. ``keep`` takes the states with their values:
    those that are first reached after so many joint moves, the last layer first; or, where plays may meet a
    state at different times, all in one. Raises TooLargeError for more states, GdlError for games whose value
    is not one in pure strategies (:mod:`players.strong.layers`, :mod:`players.strong.layers`).
    """
    found = reachable(machine, memory, watch)
    outcomes = Outcomes(len(machine.roles))
    sizes = [len(layer) for layer in found.layers]
    start = found.layers[0].rows()
    if found.layered:
        first, cyclic = values_by_layers(machine, found, outcomes, keep, watch), False
    else:
        first, cyclic = values_by_rounds(machine, found, outcomes, watch)
        keep(0, first, SetSignature.of(first.rows))
    place = int((first.rows == start).all(axis=1).argmax())
    goals = outcomes.vectors[int(first.values[place])]
    return SolvedGame(machine, outcomes, sizes, cyclic, goals, known_distance(int(first.distances[place])))
