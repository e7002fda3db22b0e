"""Solves a whole game: all its states, layer by layer, then their values.

With files, the states found outlive the process, layer by layer. One that resumes finds the values from the
start.
"""

from __future__ import annotations

from players.puzzles.frontier.key_space import orbits_of
from players.sorted_sets.store import BlobStore
from players.strong.images import OrbitImages
from players.strong.layers import Keep, StrongOptions, Watch, reachable, values_by_layers, values_by_rounds
from players.strong.outcomes import Outcomes, SolvedGame, known_distance
from players.strong.storage import TableWriter
from propnet.machine import PropnetMachine


def solve_game(
    machine: PropnetMachine,
    options: StrongOptions,
    writer: TableWriter | None = None,
    watch: Watch = lambda *_: None,
) -> SolvedGame:
    """Find the value of every reachable state of a machine's game, or of one state of each orbit. The writer,
    if there is one, gets the whole table.

    Raises TooLargeError or OutOfRoomError if the states do not fit, ScratchError, and GdlError for games
    whose value is not one in pure strategies (:mod:`players.strong.layers`).
    """
    store = BlobStore(1 << 20, options.scratch, options.disk, str(machine.rules), options.resume)
    over = False
    try:
        solved = _solved(machine, store, options, writer, watch)
        if writer is not None:
            writer.finish(solved)
        # Only now, with a complete table, are the other files not needed.
        over = True
        return solved
    finally:
        (store.erase if over else store.close)()


def _solved(
    machine: PropnetMachine,
    store: BlobStore,
    options: StrongOptions,
    writer: TableWriter | None,
    watch: Watch,
) -> SolvedGame:
    with store.restoring():
        symmetries = orbits_of(machine, options.symmetry, store.state.get("symmetry"))
    images = None
    game = machine
    if symmetries is not None:
        orbits, network = symmetries
        game, images = PropnetMachine(machine.rules, network), OrbitImages.of(orbits)
    number = 1 if images is None else 1 + len(images.sources)
    keep: Keep = (lambda *_: None) if writer is None else writer.keep
    found = reachable(game, store, options, number, watch)
    outcomes = Outcomes(len(machine.roles))
    sizes = [layer.count for layer in found.layers]
    start = found.rows(0)
    if found.layered:
        first, cyclic = values_by_layers(game, found, outcomes, options.workers, keep, watch), False
    else:
        first, cyclic = values_by_rounds(game, found, outcomes, watch)
        keep(0, first)
    place = int((first.rows == start).all(axis=1).argmax())
    goals = outcomes.vectors[int(first.values[place])]
    distance = known_distance(int(first.distances[place]))
    return SolvedGame(machine, outcomes, sizes, cyclic, goals, distance, number, images)
