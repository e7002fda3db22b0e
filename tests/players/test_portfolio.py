"""Lines of one-player games replay to the goals they claim; small games are solved, by shortest lines."""

from __future__ import annotations

import time
from functools import cache
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from players.portfolio import BestLine, Portfolio, solve, time_to_shorten
from players.puzzles.frontier.solver import BreadthFirst, ClosedList
from players.puzzles.nrpa import BY_MOVE, BY_PAIR, BY_STEP, NestedPolicy
from players.solvers import Certainty, LineSolver, Promise, Report, Task
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from tests.examples import examples
from tests.machines import network
from tests.players.puzzles.frontier.plain import replay
from tests.players.random_games import best_result, random_game, random_rules, shortest_ends

FOREVER = float("inf")
MEMORY = 1 << 24


game = cache(network)
"""One of our games, or rules."""


class Told:
    """Lines that a solver reports, each checked against the prover."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.prover = ProverMachine(machine.rules)
        self.lines: list[tuple[int, int]] = []

    def __call__(self, value: int, moves: object) -> None:
        line = list(moves)  # type: ignore[call-overload]
        end = replay(self.prover, self.machine, line)
        assert self.prover.is_terminal(end)
        assert (self.prover.result(end, 0) or 0) == value
        assert not self.lines or (value, -len(line)) > (self.lines[-1][0], -self.lines[-1][1])
        self.lines.append((value, len(line)))


def task(machine: PropnetMachine, report: Report, seed: int = 0, memory: int = MEMORY) -> Task:
    return Task(machine, machine.initial_state(), report, memory, seed)


def solved(machine: PropnetMachine, memory: int = MEMORY) -> tuple[BreadthFirst, Told]:
    told = Told(machine)
    solver = BreadthFirst(task(machine, told, memory=memory))
    assert solver.step(FOREVER)
    return solver, told


@examples(20)
@given(seed=st.integers(0, 10_000))
def test_breadth_first_search_finds_what_trying_everything_finds(seed: int) -> None:
    machine = network(random_game(seed, 1, False))
    if machine.is_terminal(machine.initial_state()):
        return
    solver, told = solved(machine)
    assert solver.proven == told.lines[-1][0] == best_result(machine, machine.initial_state())


@pytest.mark.slow
@examples(40)
@given(seed=st.integers(0, 10_000), clocked=st.sampled_from([0.3, 0.9]))
def test_breadth_first_search_proves_the_best_goal_where_clocks_matter(seed: int, clocked: float) -> None:
    machine = network(random_rules(seed, clocked))
    if machine.is_terminal(machine.initial_state()):
        return
    solver, told = solved(machine)
    assert solver.proven == told.lines[-1][0] == max(shortest_ends(machine))


@pytest.mark.parametrize(("name", "length"), [("hanoi", 31), ("eightpuzzle", 18)])
def test_known_games_are_solved_by_shortest_lines(name: str, length: int) -> None:
    solver, told = solved(game(name))
    assert solver.proven == 100
    assert told.lines[-1] == (100, length)


def test_a_goal_that_only_the_clock_gives_is_found_though_states_were_taken_for_one() -> None:
    # Going round in a ring of three: only after seven steps is the match over, and place 1 wins, which
    # has then been met after one step already.
    succ = " ".join(f"(succ {n} {n + 1})" for n in range(7))
    solver, told = solved(
        network(
            f"""(role r) (init (at 0)) (init (step 0)) {succ}
            (legal r go) (legal r wait) (ring 0 1) (ring 1 2) (ring 2 0)
            (<= (next (at ?b)) (true (at ?a)) (ring ?a ?b))
            (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
            (<= terminal (true (step 7)))
            (<= (goal r 60) (true (at 1))) (<= (goal r 0) (not (true (at 1))))"""
        )
    )
    assert solver.proven == 60
    assert told.lines == [(60, 7)]


def test_memory_is_bounded_and_the_search_gives_up_at_the_bound() -> None:
    machine = game("eightpuzzle")
    solver, _ = solved(machine, memory=1 << 18)
    assert solver.proven == -1
    assert solver.states <= (1 << 18) // (8 * machine.words + 8)


@examples(50)
@given(seed=st.integers(0, 1000), bits=st.integers(1, 130))
def test_a_closed_list_holds_each_state_once_and_knows_the_way_to_it(seed: int, bits: int) -> None:
    rng = np.random.default_rng(seed)
    mask = pack(rng.random((1, bits)) < 0.8)[0]
    values = rng.random((300, bits)) < 0.5
    values[:, min(bits, 9) :] = False
    records = pack(values)
    closed = ClosedList(records.shape[1], mask, MEMORY)
    n = len(records)
    none, numbers = np.full(n, -1, np.int32), np.arange(n, dtype=np.int32)
    for some in np.array_split(np.arange(n), 3):
        assert closed.add(records[some], none[some], numbers[some], np.zeros(len(some), np.bool_), 0, 0)
    met = {row.tobytes() for row in records & mask}
    kept = closed.records[: closed.size] & mask
    assert len(kept) == len(met)
    assert {row.tobytes() for row in kept} == met
    assert (records[closed.moves[: closed.size]] == closed.records[: closed.size]).all()
    assert unpack(kept, bits).shape == (closed.size, bits)


@pytest.mark.parametrize("coding", [BY_MOVE, BY_STEP, BY_PAIR])
def test_lines_found_by_a_policy_replay_and_learning_makes_a_line_likelier(coding: int) -> None:
    machine = game("pegsolitaire")
    told = Told(machine)
    solver = NestedPolicy(task(machine, told, coding))
    solver._steps = 64
    while solver._coding != coding:
        solver._begin_run()
    for _ in range(8):
        solver._round()
    assert told.lines
    low = solver._low
    assert low.score >= 0
    assert len(low.moves) == len(low.firsts) - 1
    before = solver._weights.copy()
    solver._learn(solver._weights, low)
    assert (solver._weights != before).any()


def test_the_same_seed_gives_the_same_lines() -> None:
    machine = game("knightstour")
    told = [Told(machine), Told(machine)]
    for each in told:
        solver = NestedPolicy(task(machine, each, 5))
        solver._steps = 128
        for _ in range(5):
            solver._round()
    assert told[0].lines == told[1].lines != []


def test_endless_playouts_are_cut_and_make_no_line() -> None:
    machine = network(
        """(role r) (init (at 0)) (legal r go) (legal r stay)
        (<= (next (at 1)) (true (at 0)) (does r go)) (<= (next (at 0)) (true (at 1)) (does r go))
        (<= (next (at ?p)) (true (at ?p)) (does r stay))
        (<= terminal (true (at 2))) (goal r 100)"""
    )
    told = Told(machine)
    NestedPolicy(task(machine, told, 1))._round()
    assert told.lines == []


def test_no_round_is_begun_after_the_deadline() -> None:
    machine = game("pegsolitaire")
    told = Told(machine)
    assert not NestedPolicy(task(machine, told, 1)).step(0.0)
    assert told.lines == []


def test_solvers_take_turns_until_the_result_is_proven() -> None:
    machine = game("hanoi")
    line = BestLine()
    portfolio = Portfolio(machine, machine.initial_state(), line, MEMORY, 0)
    while portfolio.active:
        portfolio.step(time.monotonic() + 0.01)
    assert portfolio.value == line.value == 100
    assert portfolio.solver == "frontier"
    assert portfolio.states > 100
    assert len(line.moves) == 31
    following = machine.next_state(machine.initial_state(), line.moves[:1])
    line.follow(following)
    assert portfolio.holds(following)


def test_a_machine_without_lanes_gets_no_solvers() -> None:
    prover = ProverMachine(game("hanoi").rules)
    assert not Portfolio(prover, prover.initial_state(), BestLine(), MEMORY, 0).active


def test_solvers_that_would_all_do_the_same_work_in_the_first_portfolio_alone() -> None:
    machine = game("hanoi")
    at_work = [
        sorted(Portfolio(machine, machine.initial_state(), BestLine(), MEMORY, 0, number).at_work)
        for number in (0, 1)
    ]
    others = ["fail-first", "nested-policy", "patterns"]
    assert at_work == [["fail-first", "frontier", "nested-policy", "patterns"], others]


class Idle(LineSolver):
    """Takes its time and finds nothing."""

    name = "idle"
    promise = Promise(Certainty.MAY_FIND)
    tasks: list[Task]
    seconds: float

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        type(self).tasks.append(task)

    @classmethod
    def recognise(cls, machine: PropnetMachine) -> Promise | None:
        return cls.promise

    def step(self, deadline: float) -> bool:
        began = time.thread_time()
        while time.thread_time() < began + 0.002:
            pass
        type(self).seconds += time.thread_time() - began
        return False


def idle(promise: Promise) -> type[Idle]:
    class Kind(Idle):
        pass

    Kind.promise, Kind.tasks, Kind.seconds = promise, [], 0.0
    return Kind


def test_time_and_memory_are_divided_by_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    specialist, modest, plain, blind = (
        idle(Promise(Certainty.FINDS)),
        idle(Promise(Certainty.MAY_FIND, memory=MEMORY // 8)),
        idle(Promise(Certainty.MAY_FIND)),
        idle(Promise(Certainty.MAY_FIND)),
    )
    monkeypatch.setattr(blind, "recognise", lambda machine: None)
    monkeypatch.setattr("players.solvers._plugged", lambda: [specialist, modest, plain, blind])
    machine = game("hanoi")
    portfolio = Portfolio(machine, machine.initial_state(), BestLine(), MEMORY, 0)
    for _ in range(200):
        portfolio.step(time.monotonic() + 0.01)
    assert specialist.seconds == pytest.approx(2 * plain.seconds, rel=0.1)
    assert modest.seconds == pytest.approx(plain.seconds, rel=0.1)
    sizes = [kind.tasks[0].memory for kind in (specialist, modest, plain)]
    assert sizes[1] == MEMORY // 8
    assert sizes[0] == pytest.approx(2 * sizes[2], abs=2)
    assert sum(sizes) == pytest.approx(MEMORY, abs=3)
    assert not blind.tasks


def test_no_solver_goes_on_after_a_line_to_the_highest_goal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lucky(Idle):
        tasks: ClassVar[list[Task]] = []

        def step(self, deadline: float) -> bool:
            self.states += 1
            self.report(100, [0])
            return False

    monkeypatch.setattr("players.solvers._plugged", lambda: [Lucky])
    found = solve(game("(role you) (legal you go) (<= terminal (true over)) (goal you 100)"), 60.0)
    assert (found.value, found.moves, found.states) == (100, ("go",), 1)


def test_a_solver_by_name_works_alone_and_one_that_there_is_not_is_refused() -> None:
    machine = game("hanoi")
    start = machine.initial_state()
    only = Portfolio(machine, start, BestLine(), MEMORY, 0, only="nested-policy")
    assert only.at_work == ["nested-policy"]
    with pytest.raises(GdlError, match=r"no solver 'magic'.*frontier"):
        Portfolio(machine, start, BestLine(), MEMORY, 0, only="magic")


def test_a_solver_may_report_a_line_when_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    class Hasty(Idle):
        name, promise, tasks, seconds = "hasty", Promise(Certainty.FINDS), [], 0.0

        def __init__(self, task: Task) -> None:
            super().__init__(task)
            task.report(40, [0])

    monkeypatch.setattr("players.solvers._plugged", lambda: [Hasty])
    machine, line = game("hanoi"), BestLine()
    portfolio = Portfolio(machine, machine.initial_state(), line, MEMORY, 0)
    portfolio.step(0.0)
    assert portfolio.solver == "hasty" and line.value == 40


@given(spent=st.floats(0.0, 50.0), left=st.floats(-5.0, 50.0))
def test_a_shorter_line_is_looked_for_as_long_again_a_second_at_least_and_only_while_time_is_left(
    spent: float, left: float
) -> None:
    now = time.monotonic()
    seconds = time_to_shorten(now - spent, now + left)
    wanted = max(0.0, min(left, max(spent, 1.0)))
    assert wanted - 1.0 <= seconds <= wanted + 1.0  # the clock has gone on
    assert 0.0 <= seconds <= max(0.0, left)


def test_beside_a_master_of_the_game_others_are_not_even_made_until_it_had_its_seconds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    master, other = idle(Promise(Certainty.MASTERS)), idle(Promise(Certainty.FINDS))
    monkeypatch.setattr("players.solvers._plugged", lambda: [other, master])
    monkeypatch.setattr("players.portfolio._ALONE_SECONDS", 0.05)
    machine = game("hanoi")
    portfolio = Portfolio(machine, machine.initial_state(), BestLine(), MEMORY, 0)
    while master.seconds < 0.04:
        portfolio.step(time.monotonic() + 0.01)
    assert not other.tasks
    for _ in range(40):
        portfolio.step(time.monotonic() + 0.01)
    assert len(other.tasks) == 1
