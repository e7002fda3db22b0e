"""Solves a whole game: all reachable states, layer by layer, by breadth-first search with sorted sets (Korf
2003), and their values from those of their successors by retrograde analysis (Thompson 1986).

With files, the states found outlive the process, layer by layer. One that resumes finds the values from the
start.

If layers have no state in common, one pass from the last layer to the first finds the values. In other games,
states whose successors all have values are settled first, from the last layer to the first, again and again
until none is left. This settles a game without cycles. In a game with cycles, round n then settles the states
from which a role can force an outcome within n moves. In the remaining states play need not end. Their
outcome is that of :meth:`players.strong.outcomes.Outcomes.endless`. A state from which no role can force a
better one for itself has it too, even if the game may end with the same goals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gdl.ends import no_move, stuck_roles
from gdl.errors import GdlError, RulesError, TooLargeError
from gdl.json_schema import check_json, record, whole
from players.processes.worker_threads import WorkerThreads
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.key_space import KeySpace, orbits_of
from players.puzzles.frontier.outcome import SearchLimits
from players.puzzles.frontier.search import FOUND_SCHEMA, LayeredSearch, Layers, check_found
from players.sorted_sets.keys import Keys
from players.sorted_sets.rows import FINGERS, as_set, seek
from players.sorted_sets.runs import Run
from players.sorted_sets.store import BlobStore
from players.strong.choice_kernels import (
    CROWD,
    ENDLESS_MATRIX,
    NO_SADDLE,
    SETTLED,
    UNKNOWN,
    WITHOUT_ROWS,
    choose,
)
from players.strong.outcomes import Distances, OrbitImages, Outcomes, SolvedGame, ValuedSet, known_distance
from players.strong.storage import TableWriter
from propnet.expander import ROWS, Expander, Expansion
from propnet.jit.arrays import Ints, Octets, Words
from propnet.machine import PropnetMachine

Watch = Callable[[str, int, int], None]
"""Gets the phase (``forward`` or ``backward``), the layer, and the number of states done."""


_VALUE = 3
"""Bytes of a state's value and distance."""

_FIXED = 180 << 20
"""Bytes of a process that has few states."""


@dataclass(frozen=True, slots=True)
class _Reachable:
    """The states of a game.

    Attributes:
        layers: sets of records; layer d has the states first reached after d joint moves.
        words: of a record.
        layered: whether every successor of a state in layer d is in layer d + 1, so that no play passes
            through two states of a layer or returns to a state.
    """

    layers: list[Run]
    words: int
    layered: bool

    def blocks(self, depth: int) -> Iterator[Words]:
        """The records of a layer, in order, in parts."""
        layer = self.layers[depth]
        for block in layer.blocks:
            yield np.ascontiguousarray(layer.read(block)[:, : self.words])

    def rows(self, depth: int) -> Words:
        """The records of a layer in one array (n, words)."""
        return np.concatenate(list(self.blocks(depth)))


_STATE = record(symmetry=whole(1), found=FOUND_SCHEMA)


def reachable(
    machine: PropnetMachine, store: BlobStore, options: SearchLimits, symmetry: int, watch: Watch
) -> _Reachable:
    """Every state that joint moves lead to from the start, terminal ones included; they stay in the store.
    ``symmetry``: the number of automorphisms, for a checkpoint.

    Raises OutOfRoomError or TooLargeError if there is no room for all states and their values, ScratchError
    for an invalid checkpoint.
    """
    bits = len(machine.network.bases)
    kind = Keys(bits, tag_bits=0)
    space = KeySpace(machine, None, bits, kind, np.zeros(machine.words, np.uint64))
    found = Layers()
    if store.state:
        with store.restoring():
            check_json(store.state, _STATE, "state")
            found = Layers.from_json(store.state["found"], kind, store)
            check_found(found, machine.words, bits, tagged=False)
    budget = MemoryPlan.of(options.memory, options.workers, kind, store.room.used_memory)
    store.room.memory = budget.stored
    search = LayeredSearch(space, store, budget.workers, budget, found)
    try:
        if not found.layers:
            search.begin(machine.records([machine.initial_state()])[0])
        while not search.over:
            for _ in search.advance():
                watch("forward", len(found.layers), found.states)
            _check_memory(found, 8 * machine.words, options.memory)
            runs = {id(run): run for run in [*found.layers, *found.visited]}
            saved = {"symmetry": symmetry, "found": found.as_json()} if store.on_disk else {}
            store.commit(saved, [blob for run in runs.values() for blob in run.blobs])
    finally:
        search.close()
    return _Reachable(found.layers[:-1], machine.words, not found.merged)


def _check_memory(found: Layers, row: int, memory: int) -> None:
    """Raise TooLargeError if the values of the states will not fit into the memory."""
    if found.merged:
        needed = (3 * row + _VALUE) * found.states
    else:
        # Two layers with their values, one of them with its rows.
        most = max(layer.count for layer in found.layers)
        needed = sum(layer.keys.total for layer in found.layers) + (row + 2 * _VALUE) * most
    if _FIXED + needed > memory:
        raise TooLargeError(
            f"after {found.states:,} states in {len(found.layers)} layers the memory is full, and there are"
            " more",
            remedy="give more --memory: all states are kept there",
        )


NEVER = -1
"""Stands for the number of an outcome: play without end has none."""


Keep = Callable[[int, ValuedSet], None]
"""Takes a layer, by its number, with its values, before its arrays are freed."""


class ValueFinder:
    """Finds values of states from those of their successors: expands, looks up, chooses."""

    def __init__(self, machine: PropnetMachine, outcomes: Outcomes) -> None:
        self.machine = machine
        self.outcomes = outcomes
        self._expander = Expander(machine)
        self._fingers = np.zeros(FINGERS, np.int64)
        self._batch = 1 << 10

    def judge(
        self,
        rows: Words,
        known: ValuedSet,
        horizon: int = UNKNOWN - 1,
        endless: int = NEVER,
        blockers: Ints | None = None,
    ) -> tuple[Octets, Distances, Octets]:
        """The values, distances and fates (:mod:`players.strong.choice_kernels`) of a set of states (n,
        words), whose successors are all in ``known``.

        Raises GdlError if two roles choose at once and no pure saddle point exists, or more than two choose;
        RulesError for a state that is not terminal and leaves a role without a move.
        """
        n = len(rows)
        if blockers is None:
            blockers = np.empty(n, np.int64)
        values, distances = np.zeros(n, np.uint8), np.full(n, UNKNOWN, np.uint16)
        fates = np.full(n, WITHOUT_ROWS, np.uint8)
        first = 0
        while first < n:
            batch = slice(first, min(n, first + self._batch))
            self._judge_batch(
                rows[batch], known, horizon, endless, values[batch], distances[batch], fates[batch],
                blockers[batch],
            )  # fmt: skip
            first = batch.stop
        return values, distances, fates

    def _judge_batch(
        self,
        rows: Words,
        known: ValuedSet,
        horizon: int,
        endless: int,
        values: Octets,
        distances: Distances,
        fates: Octets,
        blockers: Ints,
    ) -> None:
        chunk = self._all_successors(rows)
        places, known_values, known_distances = self._look(chunk, known)
        choose(
            chunk.parents, chunk.moves, places, known_values, known_distances, self.outcomes.ranks,
            self.outcomes.longer, horizon, endless, values, distances, fates, blockers,
        )  # fmt: skip
        self._end(rows, values, distances, fates)
        self._refuse(rows, fates)

    def _look(self, chunk: Expansion, known: ValuedSet) -> tuple[Ints, Octets, Distances]:
        """The place of each successor in values and distances, and these two arrays."""
        places = np.empty(len(chunk), np.int64)
        if seek(known.rows, chunk.records, chunk.moves, 0, self._fingers, places):
            raise AssertionError("a successor is in no layer")
        return places, known.values, known.distances

    def _all_successors(self, rows: Words) -> Expansion:
        """All successors of a batch. The size of the next batch is set so that its successors fit into the
        expander's rows."""
        chunks: list[Expansion] = []
        for chunk in self._expander.stream(rows):
            # A chunk that is not half full is the last one: its arrays stay valid.
            chunks.append(chunk if 2 * len(chunk) < ROWS else chunk.copy())
        if not chunks:
            return self._expander.expand(rows[:0])
        total = sum(map(len, chunks))
        self._batch = int(min(1 << 15, max(16, 0.45 * ROWS * len(rows) / total)))
        if len(chunks) == 1:
            return chunks[0]
        names = ("parents", "moves", "records", "terminal", "goals")
        return Expansion(*(np.concatenate([getattr(chunk, name) for chunk in chunks]) for name in names))

    def _end(self, rows: Words, values: Octets, distances: Distances, fates: Octets) -> None:
        """Give the states without successors their outcomes by the rules."""
        ends = np.flatnonzero(fates == WITHOUT_ROWS)
        if not len(ends):
            return
        answer = self.machine.evaluate(rows[ends])
        if not answer.terminal.all():
            state = self.machine.states(rows[ends[np.argmin(answer.terminal)]][None])[0]
            raise RulesError(no_move(state, stuck_roles(state)), remedy="see `ggp validate`")
        values[ends] = self.outcomes.number(answer.goals)
        distances[ends] = 0
        fates[ends] = SETTLED

    def _refuse(self, rows: Words, fates: Octets) -> None:
        """Raise the error for a state that has no value of this kind."""
        for fate, why in (
            (NO_SADDLE, "two roles move at once, and no pair of moves is best against each other"),
            (CROWD, "three roles or more choose at once"),
            (ENDLESS_MATRIX, "two roles move at once, and play may come back to the same state"),
        ):
            if (fates == fate).any():
                state = rows[np.argmax(fates == fate)][None]
                raise GdlError(
                    f"the game has no known value in pure strategies: {why}, as in {self._spelled(state)}",
                    remedy="only play by chance is best there; uct plays such games",
                )

    def _spelled(self, record: Words) -> str:
        """The text of a state's propositions, given its record (1, words)."""
        return " ".join(sorted(map(str, self.machine.states(record)[0].propositions)))


def values_by_layers(
    machine: PropnetMachine, found: _Reachable, outcomes: Outcomes, workers: int, keep: Keep, watch: Watch
) -> ValuedSet:
    """Find the values of a layered game, and pass each layer to ``keep``. Returns the first one. Raises the
    errors of :meth:`ValueFinder.judge`."""
    machines = [machine, *(PropnetMachine(machine.rules, machine.network) for _ in range(workers - 1))]
    threads = WorkerThreads([ValueFinder(one, outcomes) for one in machines], "strong")
    valued = ValuedSet(np.empty((0, machine.words), np.uint64), np.empty(0, np.uint8), np.empty(0, np.uint16))
    done = 0
    try:
        for depth in range(len(found.layers) - 1, -1, -1):
            count = found.layers[depth].count
            values, distances = np.empty(count, np.uint8), np.empty(count, np.uint16)
            at = 0
            tasks = ((part, valued) for part in found.blocks(depth))
            for some, ways, fates in threads.results(lambda finder, task: finder.judge(*task), tasks):
                assert (fates == SETTLED).all()
                to = slice(at, at + len(some))
                values[to], distances[to] = some, ways
                at = to.stop
                watch("backward", depth, done + at)
            del valued  # its rows make room for those of this layer
            valued = ValuedSet(found.rows(depth), values, distances)
            keep(depth, valued)
            done += at
    finally:
        threads.close()
    return valued


def values_by_rounds(
    machine: PropnetMachine, found: _Reachable, outcomes: Outcomes, watch: Watch
) -> tuple[ValuedSet, bool]:
    """All states as one set, with their values, and whether the game has cycles.

    Raises the errors of :meth:`players.strong.layers.ValueFinder.judge`, and GdlError for a game with cycles
    in which two roles are not opposed, or more than two play.
    """
    layers = [found.rows(depth) for depth in range(len(found.layers))]
    rows = _joined(layers)
    valued = ValuedSet(rows, np.zeros(len(rows), np.uint8), np.full(len(rows), UNKNOWN, np.uint16))
    judge = ValueFinder(machine, outcomes)
    left = _settle_ends_first(judge, layers, valued, watch)
    if not len(left):
        return valued, False
    endless = outcomes.endless()
    if not outcomes.opposed():
        raise GdlError(
            "the game has cycles, and its roles are not two opponents: play without end has no value there",
            remedy="games without cycles may have any roles and goals",
        )
    _force(judge, left, valued, endless, watch)
    return valued, True


def _settle_ends_first(judge: ValueFinder, layers: list[Words], known: ValuedSet, watch: Watch) -> Words:
    """Give a value to all states whose successors all have one. Returns the set of the others."""
    left = layers
    blockers = [np.full(len(rows), -1, np.int64) for rows in layers]
    """For each state the place of a successor without a value; -1 if none is known."""
    settled = 0
    while True:
        before = settled
        for depth in range(len(left) - 1, -1, -1):
            waits_for = blockers[depth]
            ready = np.flatnonzero((waits_for < 0) | (known.distances[waits_for] < UNKNOWN))
            if not len(ready):
                continue
            rows, others = left[depth][ready], np.full(len(ready), -1, np.int64)
            values, distances, fates = judge.judge(rows, known, blockers=others)
            done = fates == SETTLED
            places = _places(known.rows, rows[done])
            known.values[places] = values[done]
            known.distances[places] = distances[done]
            waits_for[ready] = others
            going = np.ones(len(left[depth]), np.bool_)
            going[ready[done]] = False
            left[depth], blockers[depth] = left[depth][going], waits_for[going]
            settled += len(places)
            watch("backward", depth, settled)
        if settled == before:
            return _joined(left)
        if settled == len(known.rows):
            return known.rows[:0]


def _force(judge: ValueFinder, left: Words, known: ValuedSet, endless: int, watch: Watch) -> None:
    """Give a value to the remaining states: in round n the value of n more moves, then play without end."""
    places = _places(known.rows, left)
    known.values[places] = endless
    decided = known.distances[known.distances < UNKNOWN]
    longest = int(decided.max()) if len(decided) else 0
    order = judge.outcomes.ranks[0]
    height = order - order[endless]
    best, worst = int(height.max()), int(height.min())
    round_number = 0
    while len(left) and round_number < UNKNOWN - 1:
        round_number += 1
        values, _, _ = judge.judge(left, known, round_number - 1, endless)
        now, before = height[values], height[known.values[places]]
        # Values only ever move away from that of play without end.
        further = ((now > before) & (before >= 0)) | ((now < before) & (before <= 0))
        known.values[places[further]] = values[further]
        known.distances[places[further]] = round_number
        if not further.any() and round_number > longest:
            return
        final = further & ((now == best) | (now == worst))
        left, places = left[~final], places[~final]
        watch("backward", round_number, len(known.rows) - len(left))


def _places(rows: Words, wanted_rows: Words) -> Ints:
    """The places of one set's records in another set, which must contain them all."""
    places = np.empty(len(wanted_rows), np.int64)
    if seek(rows, wanted_rows, np.zeros((len(wanted_rows), 1), np.int32), 0, np.zeros(1, np.int64), places):
        raise AssertionError("a state is not among all states")
    return places


def _joined(sets: list[Words]) -> Words:
    """The union of sets of records."""
    rows = np.concatenate(sets)
    return as_set(rows, np.empty_like(rows), len(rows), tag_bits=0)


def solve_game(
    machine: PropnetMachine,
    options: SearchLimits,
    writer: TableWriter | None = None,
    watch: Watch = lambda *_: None,
) -> SolvedGame:
    """Find the value of every reachable state of a machine's game, or of one state of each orbit. The writer,
    if there is one, gets the whole table.

    Raises TooLargeError or OutOfRoomError if the states do not fit, ScratchError, and GdlError for games
    whose value is not one in pure strategies (:mod:`players.strong.layers`).
    """
    store = BlobStore(1 << 20, options.scratch, options.disk, str(machine.rules))
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
    options: SearchLimits,
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
