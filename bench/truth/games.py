"""Games of two roles: strong tables, against what each role can force.

The games are odd: in turn or at once, with and without cycles, ends that nothing reaches, roles that never
have a choice, facts that never change, goals that do not sum to 100.
"""

from __future__ import annotations

import random
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.truth.field import Case, Field, network_machine, random_condition, step_counter
from gdl.errors import GdlError
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from players.puzzles.frontier.outcome import SearchLimits
from players.strong.layers import solve_game
from players.strong.storage import TableWriter
from players.strong.tables import Tables
from propnet.machine import PropnetMachine

MEMORY = 1 << 31
MOST_STATES = 400
_ENDLESS = 50
"""What play without end is worth to each of two roles."""


@dataclass(slots=True)
class Graph:
    """All states of a game of two roles.

    Attributes:
        start: the first of them.
        goals: of ends; an undefined goal counts as 0.
        after: of other states: rows of role 0's moves, columns of role 1's.
    """

    start: State
    goals: dict[State, tuple[int, int]]
    after: dict[State, list[list[State]]]

    def forced(self, role: int, least: int) -> set[State]:
        """From where the role, naming its move first, reaches an end of so many points or more whatever the
        other does."""
        won = {state for state, goals in self.goals.items() if goals[role] >= least}
        while True:
            new = {
                state
                for state, table in self.after.items()
                if state not in won
                and any(
                    all(one in won for one in line)
                    for line in (table if role == 0 else zip(*table, strict=True))
                )
            }
            if not new:
                return won
            won |= new

    def worths(self, role: int) -> dict[State, int]:
        """What the role can force from each state, at least; states from which that is nothing are left
        out."""
        found: dict[State, int] = {}
        for value in sorted({goals[role] for goals in self.goals.values()} - {0}):
            found |= dict.fromkeys(self.forced(role, value), value)
        return found


def graph_of(rules: Rules) -> Graph:
    """Every state. Raises OverflowError with too many, or where a role has no moves."""
    prover = ProverMachine(rules)
    graph = Graph(prover.initial_state(), {}, {})
    waiting = [graph.start]
    while waiting:
        state = waiting.pop()
        if state in graph.goals or state in graph.after:
            continue
        if prover.is_terminal(state):
            graph.goals[state] = prover.result(state, 0) or 0, prover.result(state, 1) or 0
            continue
        first, second = prover.legal_moves(state, 0), prover.legal_moves(state, 1)
        if not first or not second or len(graph.after) > MOST_STATES:
            raise OverflowError
        graph.after[state] = [[prover.next_state(state, (a, b)) for b in second] for a in first]
        waiting += [one for line in graph.after[state] for one in line]
    return graph


def random_game(rng: random.Random) -> str:
    """Rules of a few facts that the moves of two roles change."""
    facts = [f"(p {n})" for n in range(rng.randint(1, 4))]
    moves = [f"m{n}" for n in range(rng.randint(1, 3))]
    at_once, steps = rng.random() < 0.3, rng.choice((0, 0, 0, 3, 4, 6))

    def condition(most: int) -> str:
        return random_condition(rng, facts, most)

    lines = ["(role a)", "(role b)"]
    lines += [f"(init {fact})" for fact in facts if rng.random() < 0.4]
    for role in "ab":
        turn = "" if at_once else f"(true (control {role}))"
        lines += [f"(<= (legal {role} {moves[0]}) {turn})"]
        lines += [f"(<= (legal {role} {move}) {turn} {condition(1)})" for move in moves[1:]]
    if not at_once:
        lines.append("(init (control a))")
        for one, other in (("a", "b"), ("b", "a")):
            lines.append(f"(<= (next (control {one})) (true (control {other})))")
            lines.append(f"(<= (legal {one} wait) (true (control {other})))")
    for fact in facts:
        if rng.random() < 0.7:
            kept = f"(not (does {rng.choice('ab')} {rng.choice(moves)}))" if rng.random() < 0.8 else ""
            lines.append(f"(<= (next {fact}) (true {fact}) {kept})")
        for _ in range(rng.choice((0, 1, 1, 2))):
            lines.append(f"(<= (next {fact}) (does {rng.choice('ab')} {rng.choice(moves)}) {condition(2)})")
    if steps:
        lines += step_counter(steps)
        lines.append(f"(<= terminal (true (step {steps})))")
    lines += [f"(<= terminal {condition(3) or '(true (p 0))'})" for _ in range(rng.choice((0, 1, 1, 2)))]
    total = 100 if rng.random() < 0.9 else rng.choice((50, 90))
    values = rng.sample((0, 10, 50, 90, 100), 3)
    wanted = rng.sample(facts, min(len(facts), rng.randint(1, 2)))
    every = " ".join(f"(true {fact})" for fact in wanted)
    first, second = [f"(<= all {every})", f"(<= some (true {wanted[0]}) (not all))"], "(not some) (not all)"
    lines += first
    for role in "ab":
        for value, when in zip(values, ("all", "some", second), strict=True):
            points = value if role == "a" else max(0, total - value)
            lines.append(f"(<= (goal {role} {points}) {when})")
    return "\n".join(lines)


def _examine(rng: random.Random, case: Case) -> None:
    case.text = random_game(rng)
    rules = parse_rules(case.text, "the rules")
    try:
        graph = graph_of(rules)
    except OverflowError:
        return
    machine = network_machine(rules)
    sums = {sum(goals) for goals in graph.goals.values()}
    if sums <= {100}:
        _check_strong(case, machine, graph)


def _check_strong(case: Case, machine: PropnetMachine, graph: Graph) -> None:
    """The table, where it is made, has every state with its value: what the one can force at least is what
    the other cannot force more against, play without end included."""
    values = sorted({_ENDLESS, *(goals[0] for goals in graph.goals.values())})
    least = dict.fromkeys((*graph.goals, *graph.after), 0)
    most = dict.fromkeys(least, 100)
    for value in values:
        up, down = graph.forced(0, value), graph.forced(1, 100 - value)
        for state in least:
            below = value <= _ENDLESS and not any(
                state in graph.forced(1, 100 - lower) for lower in values if lower < value
            )
            if state in up or below:
                least[state] = max(least[state], value)
            above = value >= _ENDLESS and not any(
                state in graph.forced(0, higher) for higher in values if higher > value
            )
            if state in down or above:
                most[state] = min(most[state], value)
    with tempfile.TemporaryDirectory() as folder:
        scratch, kept = Path(folder) / "s", Path(folder) / "t"
        scratch.mkdir()
        try:
            solved = solve_game(machine, SearchLimits(MEMORY, scratch=scratch), TableWriter(kept))
        except GdlError:
            # A state that both decide at once need not have a value in pure strategies.
            mixed = any(len(table) > 1 < len(table[0]) for table in graph.after.values())
            case.check("strong declines", mixed)
            return
        tables = Tables.open(kept)
        case.equal("strong value", solved.start[0], least[graph.start])
        case.equal("strong value from above", solved.start[0], most[graph.start])
        for state in graph.after:
            if (found := tables.value(state)) is not None:
                case.equal("strong table", found.goals[0], least[state])


FIELD = Field("games", _examine)
