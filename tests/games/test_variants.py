"""Our games in other sizes: what their texts say is true at both limits, and matches end as they say."""

from __future__ import annotations

import contextlib
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from gdl.checks.run import Severity, check
from gdl.errors import GdlError
from gdl.grounding.pipeline import ground
from gdl.syntax.parser import parse_rules
from gdl.syntax.variants import read_sizes, variant
from ggp.answers.catalogue import checked_source, load_source
from ggp.boards.board import find_board
from ggp.cli import build
from ggp.game import Game
from ggp.rule_files import generated_rules
from players.play_checks import Rehearsal, rehearse
from tests.games.rules_of_games import NAMES, declared_by, prover, text
from tests.places import in_turn

VARIED = [name for name in NAMES if read_sizes(text(name))[0]]
LIMITS = [
    f"{name}:{'x'.join(str(getattr(size, limit)) for size in read_sizes(text(name))[0])}"
    for name in VARIED
    for limit in ("least", "most")
    if any(getattr(size, limit) != size.default for size in read_sizes(text(name))[0])
]


def test_many_games_vary_and_no_text_says_it_wrongly() -> None:
    assert len(VARIED) >= 10
    assert not [name for name in NAMES if read_sizes(text(name))[1]]


@pytest.mark.parametrize("name", VARIED)
def test_the_default_is_the_game_itself(name: str) -> None:
    sizes, _ = read_sizes(text(name))
    own = "x".join(str(size.default) for size in sizes)
    assert generated_rules(f"{name}:{own}") == (name, text(name))
    assert Game.load(f"{name}:{own}").name == name


@pytest.mark.parametrize("name", in_turn(LIMITS))
def test_both_limits_play_and_their_words_are_true(name: str) -> None:
    found, words = generated_rules(name) or ("", "")
    rules = parse_rules(words, name)
    assert found == name
    assert "varies:" not in words and "{" not in words
    assert not [str(d) for d in check(rules) if d.severity is not Severity.INFO or d.code == "hint"]
    reached = ground(rules)
    bases, inputs = declared_by(rules)
    assert set(reached.bases) == bases
    assert {
        (role, move) for role, own in zip(reached.roles, reached.moves, strict=True) for move in own
    } == inputs
    moves = len(inputs) // len(reached.roles)
    assert f"; Size    {len(bases)} base propositions, {moves} moves" in words
    machine = Game.load(name).machine("propnet")
    assert (find_board(machine) is None) == (find_board(prover(name.partition(":")[0])) is None)
    longest = re.search(r"(\d+)\s+(?:;\s+)?moves( at most|\.)", words)
    rng = random.Random(1)
    state, steps = machine.initial_state(), 0
    while not state.terminal:
        options = (machine.legal_moves(state, role) for role in range(len(machine.roles)))
        state, steps = machine.next_state(state, [rng.choice(own) for own in options]), steps + 1
    assert longest is None or steps <= int(longest[1])
    assert all(goal is not None for goal in state.goals.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", LIMITS)
def test_random_matches_find_no_fault(name: str) -> None:
    found = rehearse(Game.load(name).rules, Rehearsal(seconds=20.0))
    assert not [d for d in found if d.severity is Severity.ERROR]


@pytest.mark.parametrize(
    "name", ["hex:2", "hex:20", "hex:", "hex:x", "hex:9x9", "hex:-9", "othello:7", "hex:9.5"]
)
def test_wrong_sizes_are_refused_on_one_line_that_says_what_is_allowed(name: str) -> None:
    for load in (Game.load, lambda given: load_source(checked_source({"game": given}))):
        with pytest.raises(GdlError, match=r"from \d+ to \d+.*, as in (hex:9|othello:8)") as caught:
            load(name)
        assert "\n" not in str(caught.value)
    done = CliRunner().invoke(build("validate"), ["validate", name])
    assert done.exit_code == 2 and done.stderr.count("\n") == 1
    with pytest.raises(GdlError, match="tictactoe has one size only"):
        Game.load("tictactoe:4")
    with pytest.raises(GdlError, match="did you mean hex"):
        Game.load("hexx:4")


HEAD = "; Small: 3x3.\n; varies: size 2..9 default 3\n;   {}\n(role x) (row 3)"


@pytest.mark.parametrize(
    ("part", "fault"),
    [
        ("(row {size+1})", "not in the text"),
        ("(row {sise})", "no size 'sise'"),
        ("(row {size**2})", "not a sum"),
        ("(row {__import__('os')})", "not a sum"),
        ("(row {9^9^9})", "larger than"),
        ("(row {size^99999999})", "no value"),
        ("(row {size/0})", "no value"),
        ("(row {a 30})", "no letter"),
        ("(row {i}) for i in 1..10^6", "repeated"),
        ("(row {i}) for i in 3..2", "nothing is repeated"),
        ("(row " + "x" * 300 + ")", "too long"),
    ],
)
def test_what_cannot_vary_is_a_finding_with_its_place_and_an_error_for_who_asks(
    part: str, fault: str
) -> None:
    sizes, faults = read_sizes(HEAD.format(part))
    assert not sizes and fault in faults[0].message
    assert str(faults[0]).startswith("3:5: ")
    with pytest.raises(GdlError, match="3:5"):
        variant("small", HEAD.format(part), "4")


@pytest.mark.parametrize(
    "head",
    [
        "size 2..9",
        "size 2..9 default 1",
        "size 9..2 default 3",
        "size 2..9 default 3, size 2..9 default 3",
        "a 1..9 default 3, b 1..9 default 3, c 1..9 default 3, d 1..9 default 3, e 1..9 default 3",
        "size 2..9 default 3\n;  nothing",
        "",
    ],
)
def test_a_first_line_that_names_no_sizes_is_a_finding(head: str) -> None:
    for parts in ("", ";   (row 3)\n" * 65, ";   (row 3)\n"):
        text = f"; Small.\n; varies: {head}\n{parts}(role x) (row 3)"
        sizes, faults = read_sizes(text)
        assert not sizes and len(faults) == 1
        assert str(faults[0]).startswith(("2:10: ", "3:4: "))


@settings(max_examples=60, deadline=2000)
@given(st.text("{}size+-*/^()0123456789 a one for in ..;\n\t", max_size=300), st.integers(2, 9))
def test_hostile_lines_end_in_a_text_or_an_error(part: str, size: int) -> None:
    with contextlib.suppress(GdlError):
        variant("small", HEAD.replace("{}", part), str(size))


def test_all_is_replaced_at_once_and_blanks_stand_for_line_ends() -> None:
    parts = "{size} rows and", "{size+1} columns", "without , 34"
    words = "; of 3 rows\n; and 4 columns, 34.\n; varies: size 2..9 default 3\n%s(row 3)"
    words %= "".join(f";   {part}\n" for part in parts)
    assert variant("small", words, "3") is words
    assert variant("small", words, "4") == "; of 4 rows and 5 columns.\n(row 3)"
