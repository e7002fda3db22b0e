"""Drawings show what the last move changed, keep to the width, and give pieces the colours of their names."""

from __future__ import annotations

import functools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from gdl.rules import Rules
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.boards.board import board_of
from ggp.boards.looks import role_styles
from ggp.boards.text import Painter


def painter_of(*states: str, roles: str = "white black", possible: str = "") -> Painter:
    """For a game of which these states are known, with no rules to tell more."""
    sets = [frozenset(terms(state)) for state in states]
    rules = parse_rules("(role white)", "test")
    board = board_of(rules, tuple(terms(roles)), sets, set(terms(possible)).union(*sets), bool(possible))
    return Painter(board, rules, tuple(terms(roles)))


def terms(text: str) -> list[Term]:
    return [parse_term(part if part[0] != "(" else part + ")") for part in _parts(text)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(")") if part.strip()] if "(" in text else text.split()


def cells(rows: list[str]) -> str:
    """A state with a cell for each letter: w, b, and - for blank."""
    names = {"w": "white", "b": "black", "-": "blank"}
    return " ".join(
        f"(cell {x} {len(rows) - y} {names[letter]})"
        for y, row in enumerate(rows)
        for x, letter in enumerate(row, 1)
    )


BEFORE = cells(["b-b", "---", "ww-"])
AFTER = cells(["--b", "b--", "ww-"])


def test_what_changed_stands_in_brackets() -> None:
    painter = painter_of(BEFORE, AFTER)
    drawn = painter.draw(terms(AFTER), before=terms(BEFORE)).plain().splitlines()
    assert drawn == ["3 [.]. b", "2 [b]. .", "1  W W .", "   1 2 3"]
    neighbours = painter.draw(terms(cells(["-bb", "---", "ww-"])), before=terms(BEFORE)).plain().splitlines()
    assert neighbours[0] == "3 [.|b]b"
    last = painter.draw(terms(cells(["b--", "---", "ww-"])), before=terms(BEFORE)).plain().splitlines()
    assert last[0] == "3  b .[.]"


def test_brackets_are_left_out_where_most_squares_changed_or_none_did() -> None:
    painter = painter_of(BEFORE, AFTER)
    plain = painter.draw(terms(AFTER)).plain()
    assert painter.draw(terms(AFTER), before=terms(AFTER)).plain() == plain
    assert painter.draw(terms(AFTER), before=terms(cells(["bbw", "bwb", "--b"]))).plain() == plain


def test_pieces_have_the_colours_of_their_names() -> None:
    roles = tuple(terms("red blue"))
    assert role_styles(roles) == ["bold red", "bold blue"]
    assert role_styles(tuple(terms("xplayer oplayer"))) == ["bold cyan", "bold yellow"]
    mixed = role_styles(tuple(terms("cyan robot")))
    assert mixed[0] == "bold cyan" != mixed[1]
    state = "(cell 1 1 red) (cell 1 2 blue) (cell 2 1 orange) (cell 2 2 green_king) (cell 3 1 b) (cell 3 2 b)"
    painter = painter_of(state, state, roles="robot")
    styles = {meaning: Style.parse(style).color for _, meaning, style in painter.legend}
    assert styles["red"] == Style.parse("red").color
    assert styles["blue"] == Style.parse("blue").color
    assert styles["orange"] == Style.parse("dark_orange").color
    assert styles["green_king"] == Style.parse("green").color


def test_white_and_black_are_seen_on_any_ground() -> None:
    for style in role_styles(tuple(terms("white black"))):
        assert Style.parse(style).color is not None
        assert Style.parse(style).bgcolor is not None


@functools.cache
def wide_board(columns: int) -> Painter:
    state = " ".join(f"(cell {x} {y} b)" for x in range(1, columns + 1) for y in (1, 2, 3))
    return painter_of(state, state.replace("b)", "w)"), state.replace("b)", "blank)"))


@given(st.integers(4, 40), st.integers(20, 120))
def test_boards_keep_to_the_width_and_show_every_square(columns: int, width: int) -> None:
    state = [f"(cell {x} {y} {'w' if x == y else 'b'})" for x in range(1, columns + 1) for y in (1, 2, 3)]
    painter = wide_board(columns)
    lines = painter.draw(map(parse_term, state), width).plain().splitlines()
    assert max(map(len, lines)) <= width
    text = "".join(line[3:] for line in lines if line[:2] in ("1 ", "2 ", "3 "))
    signs = [sign for sign in text if sign not in " []|"]
    assert len(signs) == 3 * columns


def test_a_board_of_31_columns_fits_a_terminal_of_80() -> None:
    lines = wide_board(31).draw([parse_term("(cell 31 2 w)")], 78).plain().splitlines()
    assert len(lines) == 5
    assert [line[-1] for line in lines[-2:]] == ["3", "1"], "names of columns run down"


def test_first_and_second_side_are_capitals_and_small_letters() -> None:
    state = "(cell 1 1 nk) (cell 1 2 np) (cell 2 1 sk) (cell 2 2 sp) (cell 3 1 b) (cell 3 2 b)"
    painter = painter_of(state, roles="north south")
    assert {meaning: sign for sign, meaning, _ in painter.legend} == {
        "nk": "K",
        "np": "P",
        "sk": "k",
        "sp": "p",
    }


@pytest.mark.parametrize("kinds", [20, 40, 80, 200])
def test_every_kind_of_piece_has_a_sign_of_its_own(kinds: int) -> None:
    things = [f"p{i % 7}{'abcdefgh'[i // 7 % 8]}{i // 56}" for i in range(kinds)]
    state = " ".join(f"(cell {i // 20 + 1} {i % 20 + 1} {thing})" for i, thing in enumerate(things))
    painter = painter_of(state)
    assert len({sign for sign, _, _ in painter.legend} | {""}) > kinds or not painter.legend
    assert all(sign != "?" for sign, _, _ in painter.legend)


def test_rules_are_not_needed() -> None:
    assert isinstance(painter_of(BEFORE).rules, Rules)


def test_four_sides_are_told_by_their_letters() -> None:
    kinds = [side + kind for side in ("north", "east", "south", "west") for kind in ("king", "pawn")]
    state = " ".join(f"(cell {i % 3 + 1} {i // 3 + 1} {kind})" for i, kind in enumerate([*kinds, "b"]))
    painter = painter_of(state, roles="north east south west")
    signs = {meaning: sign for sign, meaning, _ in painter.legend}
    assert signs["northking"] == "nK"
    assert signs["westpawn"] == "wP"
    assert len(set(signs.values())) == 8
