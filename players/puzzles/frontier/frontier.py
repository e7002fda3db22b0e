"""The frontier: all states of a one-player game, layer by layer, and a shortest line to each goal value.

A line is rebuilt backwards: in each layer only the states that may be the parent are expanded. Each state
keeps a hash of its parent, 8 bits: about one in 256 states of the layer before has it (J. Snellman, 2018).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gdl.errors import GdlError
from players.companions import Stepwise
from players.puzzles.frontier.budget import MemoryPlan, peak_bytes, resident_bytes, return_free_memory
from players.puzzles.frontier.key_space import (
    CodingBrokenError,
    KeySpace,
    coding_as_json,
    coding_from_json,
    orbits_of,
)
from players.puzzles.frontier.outcome import FrontierProgress, FrontierResult, SearchLimits
from players.puzzles.frontier.search import LayeredSearch, Layers, check_found, check_lines, check_state
from players.solvers import highest_goal
from players.sorted_sets.runs import Run
from players.sorted_sets.store import BlobStore
from propnet.analysis.cones import step_clocks
from propnet.analysis.longest import first_change
from propnet.expander import Expander
from propnet.jit.arrays import Words
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.recoding.coding import Coding
from propnet.recoding.find import find_coding
from propnet.recoding.recoded import Recoded
from propnet.recoding.samples import clock_states, sample_states
from propnet.symmetries.canonical import Orbits

_SOME = 1 << 12
"""Candidates that are expanded at a time."""


@dataclass(frozen=True, slots=True)
class RebuiltLine:
    """A line from the start.

    Attributes:
        moves: the moves of role 0.
        records: uint64, shape (moves, words): the states after them, recoded.
    """

    moves: list[int]
    records: Words


def line_to(
    space: KeySpace, layers: list[Run], clocks: list[Words], depth: int, key: int
) -> Iterator[RebuiltLine | None]:
    """Find the line to the state with this key at this depth. Yields None now and then, and finally the line.
    Raises GdlError for damaged data."""
    machine = space.new_machine()
    expander = Expander(machine)
    moves: list[int] = []
    keys: list[int] = []
    for before in range(depth - 1, -1, -1):
        tag = _tag_of_state(layers[before + 1], key)
        step = None
        for candidates in _candidates(layers[before], tag):
            step = _parent(space, expander, candidates, clocks[before], key)
            if step is not None:
                break
            yield None
        if step is None:
            raise GdlError(f"no state at depth {before} leads to a state at depth {before + 1}")
        keys.append(key)
        key, move = step
        moves.append(move)
    records, tags = np.zeros((depth, space.words), np.uint64), np.zeros(1, np.uint64)
    for after, state in enumerate(reversed(keys)):
        one, record = space.kind.array([state]), records[after : after + 1]
        space.kind.to_records(one, clocks[after + 1], record, tags)
    yield RebuiltLine(moves[::-1], records)


def _tag_of_state(layer: Run, key: int) -> int:
    for block in layer.between(key, key + 1):
        keys = layer.read(block)
        place = int(layer.kind.places(keys, [key])[0])
        if place < len(keys) and layer.kind.key_at(keys, place) == key:
            return int(layer.read_tags(block)[place])
    raise GdlError("a state is not in its layer")


def _candidates(layer: Run, tag: int) -> Iterator[Words]:
    """Yield the states of a layer that have this tag, some at a time, in the layer's order."""
    some: list[Words] = []
    held = 0
    for block in layer.blocks:
        fitting = layer.kind.with_tag(layer.read(block), tag)
        some.append(fitting)
        held += len(fitting)
        if held >= _SOME:
            yield np.concatenate(some)
            some, held = [], 0
    if held:
        yield np.concatenate(some)


def _parent(
    space: KeySpace, expander: Expander, keys: Words, template: Words, wanted: int
) -> tuple[int, int] | None:
    """Return the lowest of these states that has the target as a successor, and the first such move."""
    records, tags = np.zeros((len(keys), space.words), np.uint64), np.zeros(len(keys), np.uint64)
    space.kind.to_records(keys, template, records, tags)
    best: tuple[int, int] | None = None
    for chunk in expander.stream(records):
        for hit in space.kind.equal(space.kind.of_records(chunk.records), wanted).tolist():
            parent = space.kind.key_at(keys, int(chunk.parents[hit]))
            if best is None or parent < best[0]:
                best = parent, int(chunk.moves[hit, 0])
    return best


_TRUST = 0.85
"""The share of free memory that the store gets: stored data cost the process a little more than their
size."""
_LEAST_STORE = 1 << 20
_AHEAD, _AHEAD_STATES, _REFUTING = 20, 1_000, 200
"""Layers examined when a coding is repaired, states of each layer to continue from, and states kept as
counterexamples."""
_MOST_STEPS = 1 << 12
"""The most steps of clocks that are examined."""

Watch = Callable[[FrontierProgress], None]


class FrontierSearch(Stepwise):
    """Searches from one state of a game of one role.

    Clocks that only count steps are left out of the keys at first. If two states differ only in a clock, the
    earlier one can still do all that the other can, unless the clock ends the match. The search is repeated
    with clocks in the keys if some state was reached at several depths and ends or goals depend on a clock
    (:func:`propnet.analysis.longest.first_change`). It then goes through all depths if the highest goal was
    not found, otherwise as far as a line may be shorter than the one found.

    Attributes:
        lines: goal value -> a line of move ids, a shortest one if ``shortest``.
        best: the highest goal value found, -1 for none.
        proven: whether no line has a higher value.
        shortest: whether each line is a shortest one for its goal value.
        complete: whether all states are visited.
        states: the number of states visited, in all passes.
    """

    def __init__(
        self, machine: PropnetMachine, start: Words, options: SearchLimits, watch: Watch | None = None
    ) -> None:
        """``start``: uint64, shape (1, words), the record of a state that is not terminal. Raises
        ScratchError."""
        self._machine, self._options, self._watch = machine, options, watch
        self._start = start
        self._began = time.monotonic()
        self._store = BlobStore(options.memory, options.scratch, options.disk, _text(machine, start))
        if self._store.state:
            with self._store.restoring():
                check_state(self._store.state)
        self._orbits: Orbits | None = None
        self._game, self._first = machine, start
        """The search space: the game itself, or one state of each orbit."""
        with self._store.restoring():
            symmetries = orbits_of(machine, options.symmetry, self._store.state.get("symmetry"))
        if symmetries is not None:
            self._orbits, network = symmetries
            self._game = PropnetMachine(machine.rules, network)
            self._first = self._orbits.canonical(start)
        self._samples = np.concatenate([sample_states(self._game), self._first])
        self._refuting = np.zeros((0, machine.words), np.uint64)
        self._earlier = 0
        self._search: LayeredSearch | None = None
        self.lines: dict[int, list[int]] = {}
        self.best = -1
        self.proven = self.complete = self.shortest = False
        self._perfect = highest_goal(machine.network)
        self._steps = self._work()

    def step(self, deadline: float) -> bool:
        """See :class:`players.companions.Stepwise`. Raises OutOfRoomError; the results found stay."""
        return all(time.monotonic() < deadline for _ in self._steps)

    def close(self) -> None:
        """Stop the threads and close the files. The files of the last checkpoint stay unless the search is
        over."""
        self._steps.close()
        if self._search is not None:
            self._search.close()
        if self.shortest:
            self._store.erase()
        else:
            self._store.close()

    @property
    def states(self) -> int:
        """The number of states visited, in all passes."""
        return self._earlier + (self._search.found.states if self._search else 0)

    def _work(self) -> Generator[None]:
        saved = self._store.state
        clocks = bool(saved.get("clocks"))
        found = None
        if saved:
            with self._store.restoring():
                coding, found = self._restored(saved, clocks)
        else:
            coding = find_coding(self._game, self._samples)
        while True:
            self._recoded = recoded = Recoded.of(self._game, coding)
            space = KeySpace.of(recoded, clocks)
            try:
                yield from self._visit(space, found)
            except CodingBrokenError as broken:
                self._forget()
                coding = self._repaired_coding(recoded, broken.records)
                found = None
                continue
            assert self._search is not None
            self.proven = self._perfect in self.lines
            if clocks or self._shortest_without(space, self._search.found):
                break
            clocks, found = True, None
            self._forget()
        self.complete = self._perfect not in self.lines
        if clocks and not self.complete:
            # The earlier search, without clocks, may have found ends of lower value farther away.
            seen = len(self._search.found.layers)
            self.lines = {value: line for value, line in self.lines.items() if len(line) <= seen}
        self.proven = self.shortest = True

    def _restored(self, saved: dict[str, Any], clocks: bool) -> tuple[Coding, Layers]:
        """Load a checkpoint and return its coding and layers. Raises GdlError and ValueError."""
        coding = coding_from_json(saved["coding"])
        if coding.bases != len(self._game.network.bases):
            raise GdlError("the coding is of another game")
        space = KeySpace.of(Recoded.of(self._game, coding), clocks)
        found = Layers.from_json(saved["found"], space.kind, self._store)
        check_found(found, space.words, space.key_bits)
        lines = {int(value): line for value, line in saved["lines"].items()}
        check_lines(lines, self._machine, self._machine.states(self._start)[0])
        self.lines, self.best, self._earlier = lines, max(lines, default=-1), saved["earlier"]
        return coding, found

    def _shortest_without(self, space: KeySpace, found: Layers) -> bool:
        """Whether clocks in the keys can neither shorten a line to a goal nor lead to other goals."""
        if not found.merged or not space.clock_mask.any():
            return True
        perfect = self.lines.get(self._perfect)
        steps = _MOST_STEPS if perfect is None else len(perfect)
        return clocks_are_idle(self._game, self._first, steps, ever=perfect is None)

    def _visit(self, space: KeySpace, found: Layers | None) -> Iterator[None]:
        """Visit all states, or as many as a shortest line to the highest goal takes."""
        workers = self._options.workers
        budget = MemoryPlan.of(self._options.memory, workers, space.kind, self._store.room.used_memory)
        self._store.room.memory = budget.stored
        self._search = search = LayeredSearch(space, self._store, budget.workers, budget, found or Layers())
        perfect = self.lines.get(self._perfect)
        limit = math.inf if perfect is None or space.clock_mask.any() else len(perfect)
        if found is None:
            search.begin(self._recoded.encode(self._first)[0])
        while True:
            for value, (depth, key) in sorted(search.found.ends.items(), reverse=True):
                if value not in self.lines or len(self.lines[value]) > depth:
                    yield from self._rebuild(space, search, value, depth, key)
            if search.over or self._perfect in search.found.ends or len(search.found.layers) >= limit:
                return
            self._balance()
            for _ in search.advance():
                self._tell(search)
                yield
            self._commit(space, search.found)

    def _balance(self) -> None:
        """Set the memory of the store from the real size of the process, which includes kernels, threads and
        the allocator's reserve."""
        store = self._store
        left = int(0.98 * self._options.memory) - resident_bytes()
        allowed = store.room.used_memory + (int(_TRUST * left) if left > 0 else left)
        store.room.memory = max(_LEAST_STORE, allowed)
        if store.spill():
            return_free_memory()

    def _rebuild(
        self, space: KeySpace, search: LayeredSearch, value: int, depth: int, key: int
    ) -> Iterator[None]:
        found = search.found
        for line in line_to(space, found.layers, found.clocks, depth, key):
            if line is not None:
                self.lines[value] = self._real(line)
                self.best = max(self.best, value)
            yield

    def _real(self, line: RebuiltLine) -> list[int]:
        """Return the moves of a line in the game itself: if states stand for orbits, the moves from orbit to
        orbit."""
        if self._orbits is None:
            return line.moves
        machine = self._machine
        start = machine.states(self._start)[0]
        return [move for (move,) in self._orbits.unfold(machine, start, self._recoded.decode(line.records))]

    def _repaired_coding(self, recoded: Recoded, records: Words) -> Coding:
        """Return a coding that can also write the successors of these states (recoded). Deeper layers may
        contradict other groups, and each attempt costs a new network: so it examines some layers ahead."""
        expander, states = Expander(self._game), recoded.decode(records)
        for depth in range(_AHEAD):
            after = expander.expand(states).records
            states = after[:: 1 + len(after) // _AHEAD_STATES]
            self._refuting = np.concatenate([self._refuting, *_broken(recoded, states if depth else after)])
            if not len(states):
                break
        return find_coding(self._game, self._samples, self._refuting)

    def _forget(self) -> None:
        """Discard the layers, before a start with another coding or other keys."""
        assert self._search is not None
        found = self._search.found
        self._earlier += found.states
        self._search.close()
        for blob in list(self._store.blobs.values()):
            blob.drop()

    def _commit(self, space: KeySpace, found: Layers) -> None:
        """Save the current results, so that a later process can resume."""
        if self._options.scratch is None:
            return
        state = {
            "symmetry": 0 if self._orbits is None else len(self._orbits.sources) + 1,
            "clocks": not space.clock_mask.any(),
            "coding": coding_as_json(self._recoded.coding),
            "found": found.as_json(),
            "lines": {str(value): line for value, line in self.lines.items()},
            "earlier": self._earlier,
        }
        runs = {id(run): run for run in [*found.layers, *found.visited]}
        self._store.commit(state, [blob for run in runs.values() for blob in run.blobs])

    def _tell(self, search: LayeredSearch) -> None:
        if self._watch is not None:
            found = search.found
            self._watch(
                FrontierProgress(
                    layer=len(found.layers) - 1,
                    layer_states=found.layers[-1].count,
                    done=search.done,
                    states=self.states,
                    visited_bytes=found.visited_bytes,
                    memory=resident_bytes(),
                    disk=self._store.room.used_disk,
                    seconds=time.monotonic() - self._began,
                )
            )

    def result(self) -> FrontierResult:
        """Return the current result."""
        assert self._search is not None
        found = self._search.found
        return FrontierResult(
            value=self.best,
            moves=self.lines.get(self.best, []),
            proven=self.proven,
            lines=dict(sorted(self.lines.items())),
            layers=[layer.count for layer in found.layers if layer.count],
            states=found.states,
            symmetries=1 if self._orbits is None else len(self._orbits.sources) + 1,
            key_bits=self._search.space.key_bits,
            bytes_per_state=found.visited_bytes / max(1, found.states),
            peak_rss=peak_bytes(),
            complete=self.complete,
            shortest=self.shortest,
            seconds_by_stage=self._search.seconds_by_stage(),
        )


def clocks_are_idle(machine: PropnetMachine, start: Words, steps: int, ever: bool) -> bool:
    """Whether ends and goals depend on step clocks in the same way at all of these steps from the start, a
    record (1, words); with ``ever``, also at all later ones."""
    network = machine.network
    values = unpack(clock_states(machine, steps, start), len(network.bases)).astype(np.bool_)
    change = first_change(network, step_clocks(network), values)
    return change is None and not (ever and len(values) >= steps)


def _text(machine: PropnetMachine, start: Words) -> str:
    """Return the text that a checkpoint must match: the rules, and the start as a comment."""
    return f"{machine.rules}\n; {start.tobytes().hex()}"


def _broken(recoded: Recoded, records: Words) -> Iterator[Words]:
    """Yield some of these states that the coding cannot write, if there are any."""
    word, bit = recoded.coding.broken_bit >> 6, np.uint64(1 << (recoded.coding.broken_bit & 63))
    found = 0
    for at in range(0, len(records), _AHEAD_STATES):
        part = records[at : at + _AHEAD_STATES]
        broken = part[recoded.encode(part)[:, word] & bit != 0][:_REFUTING]
        yield broken
        found += len(broken)
        if found >= _REFUTING:
            return
