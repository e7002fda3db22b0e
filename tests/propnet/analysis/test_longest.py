"""No match is longer than what is proven, and what is proven is sharp where moves fill squares."""

from __future__ import annotations

import random
from functools import cache

import pytest

from gdl.machine import Machine
from gdl.syntax.parser import parse_rules
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from propnet.analysis.longest import longest_match
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine
from tests.places import GAMES

ENDLESS = 1 << 30


def machine_of(text: str) -> PropnetMachine:
    machine = make_machine(parse_rules(text), "propnet")
    assert isinstance(machine, PropnetMachine)
    return machine


@pytest.mark.parametrize(
    ("name", "most", "reached"),
    [
        ("tictactoe", 9, 9),
        ("connectfour", 42, 40),  # full boards are rare
        ("hex", 81, 81),
        ("chomp", 20, 10),  # one bite takes many squares
        ("queens", 8, 8),
        ("lightsout", 15, 15),
    ],
)
def test_games_in_which_moves_fill_squares_or_a_clock_runs_are_bounded(
    name: str, most: int, reached: int
) -> None:
    machine = lane_machine(Game.load(name).machine("propnet"))
    assert machine is not None
    assert longest_match(machine.network) == most
    assert reached <= machine.playouts(2_000, 1).lengths.max() <= most


PROVEN = (
    *("atarigo", "checkers", "chinesecheckers", "eightpuzzle", "hanoi", "ninemensmorris", "pentominoes"),
    *("prisonersdilemma", "rockpaperscissors", "snakes", "sokoban", "soma", "sudoku"),
)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROVEN)
def test_no_random_match_is_longer_than_what_is_proven(name: str) -> None:
    machine = machine_of((GAMES / f"{name}.kif").read_text())
    most = longest_match(machine.network)
    assert most is not None
    assert machine.playouts(512, 2, max_steps=most + 1).lengths.max() <= most


PASSING = (
    ("(legal ?r noop)", "(legal ?r pass) (true (control ?r)))\n(<= (legal ?r noop)"),  # a player may pass
    ("(not (filled ?x ?y))", "(column ?x) (row ?y)"),  # marks may be put on marks
)


@pytest.mark.parametrize(("rule", "other"), PASSING)
def test_nothing_is_proven_where_a_move_may_use_nothing(rule: str, other: str) -> None:
    text = (GAMES / "tictactoe.kif").read_text()
    assert rule in text
    assert longest_match(machine_of(text.replace(rule, other)).network) is None


def test_proofs_stop_when_the_effort_is_spent() -> None:
    network = machine_of((GAMES / "connectfour.kif").read_text()).network
    assert longest_match(network, effort=10_000) is None


def _some_rules(rng: random.Random) -> str:
    """A small game in which most propositions, once true, stay so, and most moves make one true."""
    names = [f"p{i}" for i in range(rng.randint(2, 5))]
    text = ["(role r)"]
    two = rng.random() < 0.5
    if two:
        text.append("(role s) (init (turn r)) (<= (next (turn s)) (true (turn r)))")
        text.append("(<= (next (turn r)) (true (turn s)))")
        text += [f"(<= (legal {x} wait) (not (true (turn {x}))))" for x in "rs"]

    def literal() -> str:
        name = rng.choice(names)
        return f"(true {name})" if rng.random() < 0.5 else f"(not (true {name}))"

    for name in names:
        if rng.random() < 0.95:
            text.append(f"(<= (next {name}) (true {name}))")
        if rng.random() < 0.1:
            text.append(f"(init {name})")
        for role in "rs" if two else "r":
            turn = f"(true (turn {role}))" if two else ""
            own = f"(not (true {name}))" if rng.random() < 0.9 else literal()
            more = literal() if rng.random() < 0.3 else ""
            text.append(f"(<= (legal {role} (make {name})) {turn} {own} {more})")
            effect = rng.choice(names) if rng.random() < 0.2 else name
            unless = literal() if rng.random() < 0.1 else ""
            text.append(f"(<= (next {effect}) (does {role} (make {name})) {unless})")
    text.append(f"(<= terminal {literal()} {literal()} {literal()})")
    text += [f"(goal {role} 50)" for role in ("rs" if two else "r")]
    return "\n".join(text)


def _longest(machine: Machine) -> int:
    """The most joint moves of a match, by trying all; ENDLESS if a state comes again."""
    roles = range(len(machine.roles))
    under_way: set[object] = set()

    @cache
    def longest(key: object) -> int:
        from gdl.machine import State

        state = State(machine, key)
        options = [machine.legal_moves(state, role) for role in roles]
        if machine.is_terminal(state) or not all(options):
            return 0
        if key in under_way:
            return ENDLESS
        under_way.add(key)
        joints = [[first, *rest] for first in options[0] for rest in _products(options[1:])]
        most = max(longest(machine.next_state(state, joint).key) for joint in joints)
        under_way.remove(key)
        return min(ENDLESS, 1 + most)

    return longest(machine.initial_state().key)


def _products(options: list[list[int]]) -> list[list[int]]:
    if not options:
        return [[]]
    return [[first, *rest] for first in options[0] for rest in _products(options[1:])]


@pytest.mark.slow
def test_what_is_proven_of_small_games_holds_for_all_their_matches() -> None:
    proven = sharp = endless = 0
    for seed in range(400):
        text = _some_rules(random.Random(seed))
        machine = machine_of(text)
        most, longest = longest_match(machine.network), _longest(machine)
        endless += longest == ENDLESS
        if most is not None:
            assert longest <= most, text
            proven += 1
            sharp += longest == most
    assert proven > 50 and sharp > 25 and endless > 50, (proven, sharp, endless)
