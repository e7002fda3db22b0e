"""The frontier finds what plain breadth-first search finds, whatever memory, threads, files and kills."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.prover.machine import ProverMachine
from players.puzzles.frontier import frontier, search
from players.puzzles.frontier.budget import MemoryPlan
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.key_space import KeySpace
from players.puzzles.frontier.outcome import FrontierResult, SearchLimits
from players.sorted_sets import keys
from players.sorted_sets.files import MANIFEST, SUFFIX, OutOfRoomError, ScratchError, has_commit
from players.sorted_sets.keys import Keys
from players.sorted_sets.runs import FreshRun
from propnet.jit.arrays import Words
from propnet.machine import PropnetMachine
from propnet.recoding.coding import Coding
from propnet.recoding.find import find_coding
from propnet.recoding.recoded import Recoded
from propnet.recoding.samples import sample_states
from tests.examples import examples
from tests.games.small_sokoban import SOLUTION, small_sokoban
from tests.games.tiles import tiles
from tests.players.puzzles.frontier.plain import PLENTY, begun, machine_of, passes, searched
from tests.players.random_games import random_rules, shortest_ends


def cpu_clock(process: int) -> int:
    """The clock of a process's CPU seconds, as Linux numbers them (clock_getcpuclockid)."""
    return ~process << 3 | 2


class Child:
    """A child process that does something, and tells what came of it as JSON."""

    def __init__(self, work: Callable[[], Any]) -> None:
        reading, writing = os.pipe()
        self._pipe = reading
        self.number = os.fork()
        if self.number == 0:
            code = 1
            try:
                os.close(reading)
                said = json.dumps(work()).encode()
                while said:
                    said = said[os.write(writing, said) :]
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writing)

    def kill(self, seconds: float) -> Any:
        """End it when it has worked so many CPU seconds more; what it has told by then, None for nothing."""
        watch = cpu_clock(self.number)
        until = time.clock_gettime(watch) + seconds
        while time.clock_gettime(watch) < until and not self.ended():
            time.sleep(0.005)
        os.kill(self.number, signal.SIGKILL)
        return self.outcome()

    def ended(self) -> bool:
        """Whether it has come to its end."""
        return os.waitid(os.P_PID, self.number, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def outcome(self) -> Any:
        """What it tells; None if it was killed."""
        with open(self._pipe, "rb") as file:
            said = file.read()
        _, status = os.waitpid(self.number, 0)
        assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, "the child failed: see what it printed"
        return json.loads(said) if said else None


OURS = ["eightpuzzle", "hanoi"]
CORPUS = [
    "asteroids", "blocks", "brain_teaser_extended", "buttons", "circlesolitaire", "coins",
    "duplicateStateMedium", "hanoi", "haystack", "hitori", "lightsOn", "maze", "pancakes6", "stateSpaceSmall",
    "untwistycomplex2",
]  # fmt: skip
"""Small games whose keys are narrow."""


def assert_as_plain(text: str) -> None:
    machine = machine_of(text)
    plain = passes(machine)
    result = searched(machine)
    assert result.layers == plain.layers
    assert result.states == sum(plain.layers)
    assert {value: len(line) for value, line in result.lines.items()} == plain.ends


@pytest.mark.parametrize("name", OURS)
def test_our_games_are_searched_as_plain_search_does(name: str) -> None:
    assert_as_plain(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", CORPUS)
def test_public_games_are_searched_as_plain_search_does(name: str, corpus: Path) -> None:
    path = corpus / "games" / f"{name}.kif"
    if not path.exists():
        pytest.skip(f"there is no {path.name}")
    assert_as_plain(path.read_text())


def test_the_eight_puzzle_has_181440_states_in_32_layers() -> None:
    result = searched(machine_of(tiles(3, 3)))
    assert result.complete and result.value == -1 and not result.moves
    assert result.states == 181_440 and len(result.layers) == 32
    assert result.layers[:6] == [1, 2, 4, 8, 16, 20]
    assert result.layers[-2:] == [221, 2]
    assert result.key_bits <= 36


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_do_not_depend_on_the_number_of_workers(workers: int) -> None:
    machine = machine_of("eightpuzzle")
    alone = searched(machine)
    result = searched(machine, SearchLimits(PLENTY, workers=workers, symmetry=False))
    assert result.layers == alone.layers
    assert result.lines == alone.lines


@pytest.mark.slow
@examples(40)
@given(seed=st.integers(0, 10_000), clocked=st.sampled_from([0.3, 0.9]), symmetry=st.booleans())
@example(seed=10, clocked=0.9, symmetry=False)
@example(seed=26, clocked=0.9, symmetry=True)
def test_random_games_end_as_trying_everything_says(seed: int, clocked: float, symmetry: bool) -> None:
    machine = machine_of(random_rules(seed, clocked))
    prover = ProverMachine(machine.rules)
    if prover.is_terminal(prover.initial_state()):
        return
    ends = shortest_ends(prover)
    result = searched(machine, SearchLimits(PLENTY, symmetry=symmetry))
    assert result.value == max(ends) and result.shortest
    told = {value: len(line) for value, line in result.lines.items()}
    assert told == ends if result.complete else told.items() <= ends.items()


def test_a_small_sokoban_is_solved_by_as_few_moves_as_can_be() -> None:
    machine = machine_of(small_sokoban().text)
    plain = passes(machine)
    result = searched(machine)
    assert result.layers == plain.layers
    assert result.value == 100 and len(result.moves) == plain.ends[100] == SOLUTION.count("move")


def lights(size: int) -> str:
    """Lights out without an end: all is dark at first."""
    text = "(role player) (<= (legal player (press ?x ?y)) (number ?x) (number ?y)) (goal player 0)"
    text += """(<= (changes ?x ?y) (does player (press ?x ?y)))
        (<= (changes ?x ?v) (does player (press ?x ?y)) (beside ?y ?v))
        (<= (changes ?u ?y) (does player (press ?x ?y)) (beside ?x ?u))
        (<= (next (lit ?x ?y)) (true (lit ?x ?y)) (not (changes ?x ?y)))
        (<= (next (lit ?x ?y)) (changes ?x ?y) (not (true (lit ?x ?y))))
        (<= terminal (true (lit 1 1)) (not (true (lit 1 1))))"""
    text += " ".join(f"(number {n})" for n in range(size))
    return text + " ".join(f"(beside {n} {n + 1}) (beside {n + 1} {n})" for n in range(size - 1))


@pytest.mark.parametrize(("size", "rank"), [(2, 4), (3, 9), (4, 12)])
def test_lights_out_has_as_many_states_as_the_rank_of_its_moves_says(size: int, rank: int) -> None:
    # Ranks over GF(2): K. Sutner, 1989; 5x5 has 23.
    assert searched(machine_of(lights(size))).states == 2**rank


def ring_and_walk() -> str:
    """Going round in a ring of three: place 1 ends the match after seven steps only. A walk of nine steps
    along other places ends it too, with the same goal."""
    succ = " ".join(f"(succ {n} {n + 1})" for n in range(10))
    walk = " ".join(f"(walk {n} {n + 1})" for n in range(9))
    return f"""
        (role r) (init (at ring 0)) (init (step 0)) {succ} {walk} (ring 0 1) (ring 1 2) (ring 2 0)
        (legal r round) (<= (legal r walk) (true (at ?any 0)))
        (<= (next (at ring ?b)) (true (at ring ?a)) (ring ?a ?b) (does r round))
        (<= (next (at walk 1)) (true (at ring 0)) (does r walk))
        (<= (next (at walk ?b)) (true (at walk ?a)) (walk ?a ?b))
        (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
        (<= terminal (true (step 7)) (true (at ring 1)))
        (<= terminal (true (at walk 9))) (<= terminal (true (step 10)))
        (<= win (true (at ring 1))) (<= win (true (at walk 9)))
        (<= (goal r 100) win) (<= (goal r 0) (not win))"""


def test_a_shortest_line_may_be_one_that_only_the_clock_ends() -> None:
    result = searched(machine_of(ring_and_walk()))
    assert result.shortest and result.value == 100 and len(result.moves) == 7


@pytest.mark.slow
def test_a_search_for_a_shorter_line_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    machine = machine_of(ring_and_walk())
    looking = 0
    for steps in range(1, 1000, 3):
        scratch = tmp_path / f"{steps}"
        search = begun(machine, SearchLimits(PLENTY, scratch, symmetry=False))
        for _ in range(steps):
            next(search._steps, None)
        over = search.shortest
        looking += search.proven and not over
        search.close()
        if over:
            break
        if has_commit(scratch):
            result = searched(machine, SearchLimits(PLENTY, scratch, symmetry=False))
            assert result.shortest and len(result.moves) == 7
    assert over and looking > 3


# --- Results depend neither on memory, nor on threads, nor on files, nor on a first guess at the coding
def cramp(patch: pytest.MonkeyPatch, room: int = 512, scale: int = 1, kept: int = PLENTY) -> None:
    """Tiny buffers, blocks and ranges: many of each."""
    patch.setattr(keys, "_MOST", 256 * scale)
    patch.setattr(search, "_ROWS", 256)
    patch.setattr(search, "_SOURCES", 64 * scale)
    patch.setattr(search, "_RECORDS", 64 * scale)

    def of(cls: type[MemoryPlan], memory: int, workers: int, *more: int) -> MemoryPlan:
        return cls(room, 300 * scale, kept, workers)

    def balance(one: FrontierSearch) -> None:
        one._store.room.memory = kept
        one._store.spill()

    patch.setattr(MemoryPlan, "of", classmethod(of))
    patch.setattr(FrontierSearch, "_balance", balance)


def assert_same(result: FrontierResult, other: FrontierResult) -> None:
    assert result.layers == other.layers
    assert result.lines == other.lines
    assert (result.value, result.states, result.complete) == (other.value, other.states, other.complete)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("scratch", [False, True])
def test_small_buffers_many_ranges_and_threads_find_the_same(
    workers: int, scratch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_of("eightpuzzle")
    plenty = searched(machine)
    cramp(monkeypatch, kept=20_000 if scratch else PLENTY)
    options = SearchLimits(PLENTY, tmp_path if scratch else None, workers=workers, symmetry=False)
    assert_same(searched(machine, options), plenty)


def test_ranges_are_about_as_large_as_planned(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    successors = search.Merging._successors

    def noted(self: search.Merging, runs: Sequence[FreshRun], number: int) -> Words:
        sizes.append(sum(int(run.counts[number]) for run in runs))
        return successors(self, runs, number)

    cramp(monkeypatch, room=4096, scale=4)
    monkeypatch.setattr(search.Merging, "_successors", noted)
    searched(machine_of("eightpuzzle"), SearchLimits(PLENTY, symmetry=False))
    assert len(sizes) > 50
    assert max(sizes) < 1.9 * 300 * 4


def parents_of(options: SearchLimits) -> list[bytes]:
    """What each layer of a search keeps of parents."""
    one = begun(machine_of("eightpuzzle"), options)
    while not one.step(time.monotonic() + 1.0):
        pass
    assert one._search is not None
    layers = one._search.found.layers
    tags = [b"".join(layer.read_tags(block).tobytes() for block in layer.blocks) for layer in layers]
    one.close()
    return tags


def test_the_parent_of_a_state_is_the_same_whoever_finds_it_first(monkeypatch: pytest.MonkeyPatch) -> None:
    plenty = parents_of(SearchLimits(PLENTY, symmetry=False))
    cramp(monkeypatch)
    assert parents_of(SearchLimits(PLENTY, workers=3, symmetry=False)) == plenty


def test_a_coding_that_does_not_fit_is_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = machine_of("eightpuzzle")
    start = machine.records([machine.initial_state()])
    codings = []

    def few_samples(machine: PropnetMachine) -> Words:
        return start

    def find(machine: PropnetMachine, samples: Words, refuting: Words | None = None) -> Coding:
        codings.append(find_coding(machine, samples, refuting))
        return codings[-1]

    plenty = searched(machine)
    monkeypatch.setattr(frontier, "sample_states", few_samples)
    monkeypatch.setattr(frontier, "find_coding", find)
    for workers in (1, 2):
        codings.clear()
        result = searched(machine, SearchLimits(PLENTY, workers=workers, symmetry=False))
        assert len(codings) > 1
        assert result.layers == plenty.layers
        assert {value: len(line) for value, line in result.lines.items()} == {100: 18}


# --- Searches with keys of several words find what searches with keys of one word find
class _Wide(Keys):
    """Keys with a word that is always 0."""

    def __init__(self, key_bits: int) -> None:
        super().__init__(max(key_bits, 64))
        self._mask = Keys(key_bits)._mask.copy()
        self._mask.resize(self.words)


def widen(patch: pytest.MonkeyPatch) -> None:
    """Hold all keys as wide ones."""
    of = KeySpace.of

    def wide(cls: type[KeySpace], recoded: Recoded, clocks: bool) -> KeySpace:
        space = of(recoded, clocks)
        return replace(space, kind=_Wide(space.key_bits))

    patch.setattr(KeySpace, "of", classmethod(wide))


@pytest.mark.parametrize("name", ["eightpuzzle", "hanoi"])
@pytest.mark.parametrize("small", [False, True])
def test_wide_keys_find_the_layers_ends_and_lines_of_narrow_ones(
    name: str, small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_of(name)
    narrow = searched(machine)
    widen(monkeypatch)
    if small:
        cramp(monkeypatch, kept=20_000)
    wide = searched(machine, SearchLimits(PLENTY, tmp_path, workers=1 + small, symmetry=False))
    assert wide.layers == narrow.layers and wide.states == narrow.states
    assert {value: len(line) for value, line in wide.lines.items()} == {
        value: len(line) for value, line in narrow.lines.items()
    }
    assert wide.complete == narrow.complete and wide.value == narrow.value


FIFTEEN = [1, 2, 4, 10, 24, 54, 107, 212, 446, 946, 1948, 3938, 7808]
"""States of the 15-puzzle by distance from its goal (R. Korf and P. Schultze, 2005)."""


def test_the_fifteen_puzzle_has_keys_of_two_words_and_known_layers() -> None:
    search = begun(machine_of(tiles(4, 4)))
    while search._search is None or len(search._search.found.layers) <= len(FIFTEEN):
        assert not search.step(time.monotonic() + 0.02)
    layers, bits = search.result().layers, search.result().key_bits
    search.close()
    assert bits > 55
    assert layers[: len(FIFTEEN)] == FIFTEEN


# --- A search that is killed or runs out of disk goes on from its last whole layer, to the same result
FARTHEST = [6, 4, 7, 8, 5, 0, 3, 2, 1]
"""One of the two positions that are farthest, 31 moves, from the tiles in order."""


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> PropnetMachine:
    """The eight puzzle, searched in little memory, and begun faster than usual."""
    machine = machine_of(tiles(3, 3, FARTHEST))
    samples = sample_states(machine, 500)
    monkeypatch.setattr(frontier, "sample_states", lambda machine: samples)
    undisturbed()
    cramp(monkeypatch, room=4096, scale=8, kept=100_000)
    return machine


@cache
def undisturbed() -> tuple[Any, ...]:
    """What comes of a search with all the memory it wants, of the same samples."""
    return told(searched(machine_of(tiles(3, 3, FARTHEST))))


def told(result: FrontierResult) -> tuple[Any, ...]:
    return result.layers, result.moves, result.states, result.proven


def run(machine: PropnetMachine, scratch: Path, workers: int) -> tuple[Any, ...]:
    """Begin or go on, to the end."""
    return told(searched(machine, SearchLimits(PLENTY, scratch, workers=workers, symmetry=False)))


@pytest.mark.slow
def test_after_each_of_20_kills_it_goes_on_to_the_same_result(
    machine: PropnetMachine, tmp_path: Path
) -> None:
    randomness = random.Random(19)
    kills = resumed = searches = 0
    while kills < 20:
        scratch = tmp_path / str(searches)
        searches += 1
        outcome = None
        while outcome is None:
            resumed += (scratch / MANIFEST).exists()
            child = Child(partial(run, machine, scratch, 1 + kills % 2))
            outcome = child.kill(randomness.uniform(0.1, 0.4)) if kills < 20 else child.outcome()
            kills += outcome is None
        assert tuple(outcome) == undisturbed()
    assert resumed >= 10


def test_ctrl_c_loses_at_most_the_layer_that_is_being_made(machine: PropnetMachine, tmp_path: Path) -> None:
    def interrupted() -> list[int]:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        search = begun(machine, SearchLimits(PLENTY, tmp_path, workers=2, symmetry=False))
        sent = False
        try:
            while not search.step(time.monotonic() + 0.001):
                if not sent and len(search.result().layers) > 4:
                    sent = True
                    threading.Timer(0.005, os.kill, (os.getpid(), signal.SIGINT)).start()
        except KeyboardInterrupt:
            return search.result().layers
        finally:
            search.close()
        return []

    layers = Child(interrupted).outcome()
    assert 4 < len(layers) < 32
    search = begun(machine, SearchLimits(PLENTY, tmp_path, symmetry=False))
    while not search.states:
        search.step(time.monotonic() + 0.001)
    # The last of them may not have been committed yet.
    assert search.result().layers[: len(layers) - 1] == layers[:-1]
    search.close()
    assert run(machine, tmp_path, 1) == undisturbed()


def work_off(search: FrontierSearch) -> None:
    while not search.step(time.monotonic() + 1.0):
        pass


def out_of_room(machine: PropnetMachine, options: SearchLimits) -> FrontierResult:
    """What was found when it became too much."""
    search = begun(machine, options)
    with pytest.raises(OutOfRoomError) as error:
        work_off(search)
    assert error.value.remedy
    assert search.step(time.monotonic() + 1.0)
    result = search.result()
    search.close()
    assert not result.proven and not result.complete
    layers = undisturbed()[0]
    assert 1 < len(result.layers) < len(layers)
    assert result.layers == layers[: len(result.layers)]
    return result


def test_with_little_memory_and_no_files_it_keeps_what_it_found(machine: PropnetMachine) -> None:
    out_of_room(machine, SearchLimits(PLENTY, symmetry=False))


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_that_may_use_little_disk_goes_on_with_more(
    workers: int, machine: PropnetMachine, tmp_path: Path
) -> None:
    disk = 150_000
    out_of_room(machine, SearchLimits(PLENTY, tmp_path, disk, workers, symmetry=False))
    assert sum(path.stat().st_size for path in tmp_path.glob("*" + SUFFIX)) <= disk
    result = out_of_room(machine, SearchLimits(PLENTY, tmp_path, 2 * disk, workers, symmetry=False))
    assert sum(path.stat().st_size for path in tmp_path.glob("*" + SUFFIX)) <= 2 * disk
    assert result.states > 0
    assert run(machine, tmp_path, workers) == undisturbed()


def test_a_search_that_is_closed_in_the_midst_goes_on_without_a_thread_left(
    machine: PropnetMachine, tmp_path: Path
) -> None:
    search = begun(machine, SearchLimits(PLENTY, tmp_path, workers=2, symmetry=False))
    while search.states < 20_000:
        assert not search.step(time.monotonic() + 0.01)
    search.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("frontier")]
    with pytest.raises(ScratchError, match="of other rules"):
        begun(machine_of(tiles(3, 3)), SearchLimits(PLENTY, tmp_path, symmetry=False))
    assert run(machine, tmp_path, 1) == undisturbed()


def test_files_are_gone_when_the_search_is_over(machine: PropnetMachine, tmp_path: Path) -> None:
    assert run(machine, tmp_path, 1) == undisturbed()
    assert not list(tmp_path.glob("*" + SUFFIX)) and not (tmp_path / MANIFEST).exists()
