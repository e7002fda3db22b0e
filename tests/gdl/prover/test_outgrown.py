"""Relations that outgrow the code that was made for them cost only the code that reads them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from gdl.ends import RandomGames
from gdl.prover.limits import DEMAND_ROWS
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules
from tests.places import CORPUS

ALIKE = 12
"""Groups of relations that have nothing to do with each other."""


def growing_rules() -> str:
    """A counter to 60, and groups of relations; of the first group one grows with the square of the
    counter."""
    lines = ["(role r)", "(init (step 0))", "(<= terminal (true (step 60)))", "(goal r 100)", "(atmost 0 0)"]
    lines += [f"(succ {n} {n + 1})" for n in range(60)]
    lines += ["(<= (atmost ?a ?c) (succ ?b ?c) (atmost ?a ?b))", "(<= (atmost ?c ?c) (succ ?b ?c))"]
    lines += ["(<= (next (step ?b)) (true (step ?a)) (succ ?a ?b))"]
    for group in range(ALIKE):
        most = "?s" if group == 0 else "7"
        lines += [
            f"(<= (low{group} ?a) (true (step ?s)) (atmost ?a {most}) (atmost ?s 60))",
            f"(<= (pair{group} ?a ?b) (low{group} ?a) (low{group} ?b))",
            f"(<= (legal r (go{group} ?a)) (pair{group} ?a ?b) (distinct ?a ?b))",
            f"(<= (legal r (come{group} ?b)) (pair{group} ?a ?b) (distinct ?a ?b))",
        ]
    return "\n".join(lines)


def test_a_relation_that_grows_leaves_the_code_of_others_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = ProverMachine(parse_rules(growing_rules()))
    state = machine.initial_state()
    compiled: list[int] = []
    execute = machine._evaluator.relations.execute

    def counted(lines: list[str]) -> None:
        compiled[-1] += 1
        execute(lines)

    monkeypatch.setattr(machine._evaluator.relations, "execute", counted)
    while True:
        compiled.append(0)
        moves = machine.legal_moves(state, 0)
        assert len(moves) >= 2 * 8 * (ALIKE - 1)
        state = machine.next_state(state, moves[:1])
        if machine.is_terminal(state):
            break
    assert DEMAND_ROWS < 60 * 60
    assert compiled[0] > 2 * ALIKE  # everything, at first
    assert 0 < sum(compiled[1:]) < ALIKE  # what reads the relation that grew, and nothing else


GAMES = sorted(CORPUS.rglob("*.kif"), key=lambda path: -path.stat().st_size)[:20]
STEPS = 60
"""Of the random games before, and of those that are watched."""


@pytest.mark.slow
@pytest.mark.skipif(not GAMES, reason="the corpus of public games is not beside the project")
@pytest.mark.parametrize("path", GAMES, ids=lambda path: path.stem)
def test_no_question_of_a_long_random_game_waits_for_much_code(path: Path) -> None:
    """What takes long in a question is code that is written anew: at most a quarter of it at once."""
    machine = ProverMachine(parse_rules(path.read_text(encoding="utf-8"), path.name))
    games = RandomGames(machine, seed=1)
    for _ in range(STEPS):
        games.step()
    written = machine.functions_written
    draw = random.Random(2)
    state = machine.initial_state()
    for _ in range(STEPS):
        before = machine.functions_written
        if state.terminal:
            state = machine.initial_state()
        joint = [draw.choice(machine.legal_moves(state, role)) for role in range(len(machine.roles))]
        state = machine.next_state(state, joint)
        assert machine.functions_written - before <= written / 4


def test_who_is_told_which_relations_are_large_writes_no_code_twice_and_says_the_same() -> None:
    rules = parse_rules(growing_rules())
    first, games = ProverMachine(rules), 130
    told = RandomGames(first, 1)
    for _ in range(games):
        told.step()
    assert "pair0" in first.large_relations
    second, third = ProverMachine(rules, large=first.large_relations), ProverMachine(rules)
    states = [machine.initial_state() for machine in (second, third)]
    while not states[1].terminal:
        assert states[0].legal == states[1].legal
        moves = third.legal_moves(states[1], 0)[:1]
        states = [third.next_state(states[1], moves)] * 2
        states[0] = second.state_of(third.true_propositions(states[1].key))
    assert third.functions_written > second.functions_written


@pytest.mark.slow
@pytest.mark.parametrize(
    "path", sorted((CORPUS / "games").glob("[a-c]*.kif"))[::6], ids=lambda path: path.stem
)
def test_relations_of_any_names_may_be_said_to_be_large(path: Path) -> None:
    """What is not large is computed key by key all the same; what cannot be, whole."""
    rules = parse_rules(path.read_text(encoding="utf-8"), path.name)
    plain = ProverMachine(rules)
    every = {p.name for p in plain._program.predicates} | {"no such relation"}
    told = ProverMachine(rules, large=every)
    draw, state = random.Random(3), plain.initial_state()
    for _ in range(12):
        other = told.state_of(plain.true_propositions(state.key))
        assert other.terminal == state.terminal
        if state.terminal:
            break
        assert {r: set(m) for r, m in other.legal.items()} == {r: set(m) for r, m in state.legal.items()}
        joint = [draw.choice(plain.legal_moves(state, role)) for role in range(len(plain.roles))]
        state = plain.next_state(state, joint)
