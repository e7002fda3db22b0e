"""One-player games: every solver of the portfolio, and strong tables, against all states.

The rules are odd: no moves at all, states without moves, ends that nothing reaches, goals that are not 100,
not defined, met before the end or taken back, latches, step counters, facts that never change.
"""

from __future__ import annotations

import contextlib
import random
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from bench.truth.field import Case, Field, network_machine, random_condition, step_counter
from gdl.errors import GdlError
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from players.portfolio import solve
from players.puzzles.frontier.outcome import SearchLimits
from players.solvers import replayed, solvers_named
from players.strong.layers import solve_game
from propnet.machine import PropnetMachine

SECONDS = 20.0
"""Wall time that a solver may take for what is found in milliseconds where it is found at all."""
MEMORY = 1 << 28
MOST_STATES = 3000
_OVER_SHARE = 0.05


@dataclass(frozen=True, slots=True)
class Truth:
    """What all states of a game say.

    Attributes:
        lengths: for each goal value of a reachable end the fewest moves to it; an undefined goal counts as 0.
        states: how many states can be reached.
        stuck: whether a state without legal moves that is no end can be reached.
    """

    lengths: dict[int, int]
    states: int
    stuck: bool

    @property
    def best(self) -> int:
        """The highest value, -1 where no end can be reached."""
        return max(self.lengths, default=-1)


def truth_of(rules: Rules) -> Truth:
    """Breadth-first search on the prover. Raises OverflowError with too many states."""
    prover = ProverMachine(rules)
    start = prover.initial_state()
    depths: dict[State, int] = {start: 0}
    waiting = deque([start])
    lengths: dict[int, int] = {}
    stuck = False
    while waiting:
        state = waiting.popleft()
        if prover.is_terminal(state):
            lengths.setdefault(prover.result(state, 0) or 0, depths[state])
            continue
        moves = prover.legal_moves(state, 0)
        stuck |= not moves
        for move in moves:
            after = prover.next_state(state, [move])
            if after not in depths:
                depths[after] = depths[state] + 1
                waiting.append(after)
        if len(depths) > MOST_STATES:
            raise OverflowError
    return Truth(lengths, len(depths), stuck)


def random_puzzle(rng: random.Random, most: int = 5) -> str:
    """Rules of a few facts, at most so many, that a few moves change."""
    facts = [f"(p {n})" for n in range(rng.randint(1, most))]
    moves = [f"m{n}" for n in range(rng.choice((0, 1, 2, 2, 3, 3, 4)))]
    steps = rng.choice((0, 0, 0, 1, 2, 3, 5))

    def condition(most: int) -> str:
        return random_condition(rng, facts, most)

    lines = ["(role you)"]
    lines += [f"(init {fact})" for fact in facts if rng.random() < 0.4]
    for move in moves:
        for _ in range(rng.choice((1, 1, 1, 2))):
            lines.append(f"(<= (legal you {move}) {condition(rng.choice((0, 0, 1, 2)))})")
    for fact in facts:
        stays = rng.random()
        if stays < 0.35:
            lines.append(f"(<= (next {fact}) (true {fact}))")
        elif stays < 0.75 and moves:
            lines.append(f"(<= (next {fact}) (true {fact}) (not (does you {rng.choice(moves)})))")
        for _ in range(rng.choice((0, 1, 1, 2))):
            done = f"(does you {rng.choice(moves)})" if moves and rng.random() < 0.9 else ""
            lines.append(f"(<= (next {fact}) {done} {condition(2)})")
    ends = rng.choice((0, 1, 1, 1, 2))
    if steps:
        lines += step_counter(rng.choice((steps, steps + 2)))
        if rng.random() < 0.8:
            lines.append(f"(<= terminal (true (step {steps})))")
    lines += [f"(<= terminal {condition(3)})" for _ in range(ends)]
    value, other = rng.sample((0, 1, 10, 50, 99, 100), 2)
    wanted = rng.sample(facts, min(len(facts), rng.randint(0, 3)))
    lines.append(f"(<= (goal you {value}) {' '.join(f'(true {fact})' for fact in wanted)})")
    if wanted and rng.random() < 0.8:
        lines += [f"(<= (goal you {other}) (not (true {fact})))" for fact in wanted]
    if rng.random() < 0.15:  # several may hold at once
        lines.append(f"(<= (goal you {rng.choice((0, 30, 100))}) {condition(2)})")
    return "\n".join(lines)


def drawn(rng: random.Random, text: Callable[[], str]) -> Rules:
    """Random rules; few of them are of games that are over before the first move."""
    while True:
        rules = parse_rules(text(), "the rules")
        prover = ProverMachine(rules)
        if not prover.is_terminal(prover.initial_state()) or rng.random() < _OVER_SHARE:
            return rules


def drawn_puzzle(
    rng: random.Random, case: Case, text: Callable[[], str]
) -> tuple[Rules, PropnetMachine, Truth] | None:
    """Random rules as the case's instance, their machine and the truth of them; None where there are too many
    states to know it."""
    rules = drawn(rng, text)
    case.text = str(rules)
    try:
        truth = truth_of(rules)
    except OverflowError:
        return None
    return rules, network_machine(rules), truth


def _examine(rng: random.Random, case: Case) -> None:
    puzzle = drawn_puzzle(rng, case, lambda: random_puzzle(rng))
    if puzzle is None:
        return
    rules, machine, truth = puzzle
    seed = rng.randrange(100)
    for name in (None, *(solver.name for solver in solvers_named(None))):
        with contextlib.suppress(GdlError):
            if (
                name is None
                or machine.is_terminal(machine.initial_state())
                or next(kind for kind in solvers_named(None) if kind.name == name).recognise(machine)
            ):
                check_solver(case, rules, machine, truth, name, seed)
    _check_strong(case, machine, truth)


def check_solver(
    case: Case, rules: Rules, machine: PropnetMachine, truth: Truth, name: str | None, seed: int
) -> None:
    """What a solver claims of a game, the portfolio without a ``name``."""
    kind = name or "portfolio"
    seconds = SECONDS if name in (None, "frontier") else SECONDS / 40
    found = solve(machine, seconds, seed=seed, only=name)
    if found.value >= 0:
        replayed(rules, found)  # raises GdlError where it does not, which is a fault
        case.check(f"{kind} finds", found.value in truth.lengths, f"{found.value}, true are {truth.lengths}")
        case.check(
            f"{kind} length",
            len(found.moves) >= truth.lengths.get(found.value, 0),
            f"{len(found.moves)} moves",
        )
    if found.proven:
        case.equal(f"{kind} proven", found.value, truth.best)
    elif name in (None, "frontier"):
        case.faults.append(f"{kind} proves nothing of {truth.states} states")


def _check_strong(case: Case, machine: PropnetMachine, truth: Truth) -> None:
    try:
        solved = solve_game(machine, SearchLimits(1 << 31, symmetry=False))
    except GdlError as error:
        case.check("strong declines", truth.stuck, str(error))
        return
    case.equal("strong value", max(0, *solved.start), max(0, truth.best))
    case.equal("strong states", solved.states, truth.states)
    if solved.distance is not None and truth.best > 50:
        case.equal("strong distance", solved.distance, truth.lengths[truth.best])


FIELD = Field("puzzles", _examine)
