"""Pieces: what things look like, by what they do, whose they are, and what hints say."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gdl.hints import BOARDS, HINT_COLOURS, LOOKS
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules
from ggp.boards.board import find_board
from ggp.boards.clicks import ClickMove
from ggp.boards.looks import PieceShape, looks_of
from ggp.boards.svg.markup import stylesheet
from ggp.boards.svg.overlay import BoardOverlay
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from tests.ggp.boards.found_boards import found


def hinted_rules(game: str, *hints: str) -> Rules:
    """A game's rules after hints. They change how a board looks, not which it is."""
    lines = [f"; draw: {hint}" for hint in hints]
    return parse_rules("\n".join([*lines, str(found(game)[0].rules)]))


def hinted_painter(game: str, *hints: str) -> SvgPainter:
    machine, board = found(game)
    return SvgPainter(board, hinted_rules(game, *hints), machine.roles)


def shapes(game: str, seed: int = 0) -> dict[str, str]:
    machine, board = found(game, seed)
    looks = looks_of(board, machine.rules, machine.roles)
    return {look.meaning: look.shape.value for look in looks.values()}


@pytest.mark.parametrize(
    ("game", "shown"),
    [
        ("checkers", {"bm": "draught", "wm": "draught", "bk": "crown", "wk": "crown", "chain": "mark"}),
        ("amazons", {"white": "disc", "black": "disc", "arrow": "block", "shooting": "mark"}),
        ("tron", {"red": "area", "blue": "area", "at red": "disc", "at blue": "disc"}),
        ("knightstour", {"knight": "man", "visited": "trail"}),
        ("queens", {"queen": "man"}),
        ("lightsout", {"lit": "lamp"}),
        ("pegsolitaire", {"peg": "peg"}),
        ("chomp", {"chocolate": "area"}),
        ("sokoban", {"at": "keeper", "box": "crate", "goal_square": "goal", "wall": "ground"}),
        ("eightpuzzle", dict.fromkeys("12345678", "tile")),
        ("soma", dict.fromkeys(["l", "left", "right", "t", "tripod", "v", "z"], "area")),
        ("kalah", {str(n): "number" for n in range(25)}),
        ("breakthrough", {"white": "disc", "black": "disc"}),
        ("tictactoe", {"x": "cross", "o": "ring"}),
        ("blindtictactoe", {"x": "cross", "o": "ring", "tried x": "corner", "tried o": "corner"}),
    ],
)
def test_what_things_look_like(game: str, shown: dict[str, str]) -> None:
    found_shapes = shapes(game)
    assert {name: found_shapes.get(name) for name in shown} == shown


@pytest.mark.parametrize(
    "game", ["checkers", "amazons", "tron", "lightsout", "pegsolitaire", "chomp", "soma", "breakthrough"]
)
def test_no_name_is_needed(game: str) -> None:
    """Scrambled rules have pieces of the same shapes, but for owners, whom only names tell."""
    owned = {"disc", "text", "draught", "crown", "area", "block"}
    ours, theirs = (
        Counter(s if s not in owned else "own" for s in shapes(game, seed).values()) for seed in (0, 3)
    )
    assert ours == theirs


def test_sokoban_without_hints_is_a_level_too() -> None:
    rules = Game.load("sokoban").rules
    machine = make_machine(parse_rules(str(rules)), "prover")
    assert not machine.rules.hints
    drawn = SvgPainter.of_machine(machine, "").draw_state(machine.initial_state())
    with_hints = SvgPainter(found("sokoban")[1], rules, machine.roles)
    assert drawn == with_hints.draw_state(machine.initial_state())
    assert "gb-wall" not in drawn and "gb-cell" not in drawn


def test_facts_stand_below_a_board_that_is_wide() -> None:
    text = """(role r) (init (step 1)) (init (held red)) (init (held blue)) (<= (init (at ?n e)) (spot ?n))
        (spot 1) (spot 2) (spot 3) (spot 4) (spot 5) (spot 6) (<= (legal r (fill ?n)) (true (at ?n e)))
        (<= (next (at ?n f)) (does r (fill ?n)))
        (<= (next (at ?n ?c)) (true (at ?n ?c)) (not (does r (fill ?n))))
        (<= (next (held ?c)) (true (held ?c))) (<= (next (step 1)) (true (step 1)))
        (<= terminal (true (at 1 f)) (true (at 2 f)))"""
    machine = make_machine(parse_rules(text), "prover")
    painter = SvgPainter.of_machine(machine, "")
    assert painter.board is not None and len(painter.board.rows) == 1
    state = machine.initial_state()
    (wide, high), (alone, low) = (
        map(float, re.findall(r'<svg [^>]*width="([0-9.]+)" height="([0-9.]+)"', drawn)[0])
        for drawn in (painter.draw_state(state), painter.draw_board(state))
    )
    assert wide == alone and high > low


@pytest.mark.parametrize("seed", [0, 5])
def test_sides_of_hex_belong_to_who_joins_them(seed: int) -> None:
    machine, board = found("hex", seed)
    assert sorted(board.edges) == ["bottom", "left", "right", "top"]
    assert board.edges["left"] == board.edges["right"] != board.edges["bottom"] == board.edges["top"]
    drawn = SvgPainter(board, machine.rules, machine.roles).draw_state(machine.initial_state())
    # A hexagon at a side shows two of its own, one at the acute corners three.
    assert drawn.count("gb-edge") == 4 * 9 * 2


def test_digits_are_one_number() -> None:
    machine, board = found("sokoban")
    state = machine.initial_state()
    for move in ["(move up)", "(move down)"] * 7:
        state = state.play(move)
    painter = SvgPainter(board, machine.rules, machine.roles)
    drawn = painter.draw_state(state)
    assert ">count 14<" in drawn and "tens" not in drawn
    told = painter.describe(state.propositions)["beside"]
    assert [(one["name"], one["rows"]) for one in told] == [("count", (("14",),))]
    assert "gb-fact" not in painter.draw_board(state)


def hinted(game: str, *hints: str) -> dict[str, str]:
    """The shapes and colours of things with hints before the rules."""
    machine, board = found(game)
    looks = looks_of(board, hinted_rules(game, *hints), machine.roles)
    return {look.meaning: f"{look.shape.value} {look.sign} {look.colour}" for look in looks.values()}


def test_a_hint_comes_before_all_else_and_the_last_one_counts() -> None:
    looks = hinted("breakthrough", "white as queen", "white as pawn", "black as crown in green")
    assert looks == {"white": "man p gb-white", "black": "crown  gb-green"}


@pytest.mark.parametrize("look", sorted(LOOKS))
def test_every_look_of_hints_is_drawn(look: str) -> None:
    machine, board = found("pegsolitaire")
    state = machine.initial_state()
    drawn = hinted_painter("pegsolitaire", f"peg as {look} in red").draw_state(state)
    assert drawn != SvgPainter(board, machine.rules, machine.roles).draw_state(state) or look == "peg"
    classes = {cls for said in re.findall(r'class="([^"]*)"', drawn) for cls in said.split()}
    assert classes - {"gb-square", "gb"} <= set(re.findall(r"\.(gb-[a-z0-9]+)", stylesheet()))


def test_every_colour_of_hints_is_in_the_stylesheet() -> None:
    assert {f"gb-{colour}" for colour in HINT_COLOURS} <= set(re.findall(r"\.(gb-[a-z0-9]+)", stylesheet()))
    assert {shape.value for shape in PieceShape} | {"wall", "letter", "man"} >= {
        look for look in LOOKS if look not in ("king", "queen", "rook", "bishop", "knight", "pawn")
    }


@pytest.mark.parametrize(
    ("names", "shape"),
    [("wk bk wr", "man"), ("wk bk wp bp", "disc"), ("wk bk wq bq wr br", "man"), ("wk bk wz bz", "disc")],
)
def test_letters_of_chess_are_told_from_those_of_draughts(names: str, shape: str) -> None:
    places = [(x, y) for y in "12" for x in "abcd"]
    cells = " ".join(f"(init (cell {x} {y} {n}))" for (x, y), n in zip(places, names.split(), strict=False))
    text = f"""(role white) (role black) {cells} (init (cell d 3 b)) (<= (legal ?r noop) (role ?r))
        (<= (next (cell ?x ?y ?p)) (true (cell ?x ?y ?p))) (<= terminal (true (cell d 4 wk)))"""
    machine = make_machine(parse_rules(text), "prover")
    board = find_board(machine)
    assert board is not None
    looks = looks_of(board, machine.rules, machine.roles)
    assert {look.shape.value for look in looks.values()} == {shape}


@pytest.mark.parametrize("look", sorted(BOARDS - {"none"}))
def test_every_look_of_a_board_is_drawn(look: str) -> None:
    game = "hanoi" if look == "towers" else "atarigo"
    drawn = hinted_painter(game, f"board as {look}").draw_state(found(game)[0].initial_state())
    signs = {"chequered": "gb-dark", "plain": "gb-cell", "points": "gb-point", "towers": "gb-disk"}
    assert signs[look] in drawn
    assert (look == "chequered") == ("gb-dark" in drawn)


def test_a_board_that_a_hint_does_not_want_is_a_list_of_facts() -> None:
    rules = Game.load("pegsolitaire").rules
    machine = make_machine(parse_rules(f"; draw: board as none\n{rules}"), "prover")
    drawn = SvgPainter.of_machine(machine, "").draw_state(machine.initial_state())
    assert "gb-square" not in drawn and "gb-fact" in drawn


@pytest.mark.parametrize(
    ("sign", "pips"), [("1", 1), ("2", 2), ("3", 3), ("4", 4), ("5", 5), ("6", 6), ("7", 0)]
)
def test_a_die_has_as_many_pips_as_its_number(sign: str, pips: int) -> None:
    from ggp.boards.looks import PieceLook
    from ggp.boards.svg.sprites import draw_piece

    drawn = draw_piece(PieceLook(sign, PieceShape.DIE, "gb-black", sign), 0, 0)
    assert drawn.count("gb-pip") - drawn.count("gb-pips") == pips
    assert (f">{sign}<" in drawn) == (pips == 0)


def test_what_is_drawn_over_a_board() -> None:
    machine, board = found("chess")
    painter = SvgPainter(board, machine.rules, machine.roles)
    hint = BoardOverlay.of_move(ClickMove("(move e 2 e 4)", (("0,4,1",), ("0,4,3",)), ""))
    assert hint == BoardOverlay(arrows=(("0,4,1", "0,4,3"),))
    drawn = painter.draw_state(machine.initial_state(), overlay=hint)
    assert drawn.count('class="gb-arrow"') == drawn.count('class="gb-arrowhead"') == 1
    assert BoardOverlay.of_move(ClickMove("(drop a)", (("0,0,0", "0,0,1"),), "")).hints == ("0,0,0", "0,0,1")
    won = painter.draw_state(
        machine.initial_state(), overlay=BoardOverlay(won=("0,0,0", "9,9,9", '"><script>'))
    )
    assert won.count("gb-won") == 1 and "script" not in won
    assert "gb-overlay" not in painter.draw_state(machine.initial_state())


@pytest.mark.parametrize(
    ("hint", "shown"), [("die * as die", 5), ("die second 5 as die", 5), ("die as die", 0)]
)
def test_a_fact_beside_the_board_is_a_die_where_a_hint_says_so(hint: str, shown: int) -> None:
    rules = parse_rules(f"; draw: {hint}\n(role second) (init (die second 5))", "dice")
    drawn = SvgPainter(None, rules, rules.rules[0].head.args).draw([rules.rules[1].head.args[0]])
    assert drawn.count('class="gb-pip"') == shown
    assert "die second 5" in drawn
