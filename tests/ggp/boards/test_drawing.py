"""Boards are drawn in text and as SVG: what pieces look like, what has changed, levels as levels."""

from __future__ import annotations

import functools
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.style import Style

from bench.boards.recorded import GOLDEN, hashes, own_games, read_recorded
from gdl.hints import BOARDS, FACTS, HINT_COLOURS, LOOKS, ROWS, SIGNS
from gdl.machine import Machine
from gdl.reading import games_folder
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.answers.catalogue import known_games, known_levels
from ggp.boards.board import board_of, find_board
from ggp.boards.clicks import ClickMove
from ggp.boards.looks import PieceShape, looks_of, role_styles
from ggp.boards.snakes import SnakesPainter, map_of_rules
from ggp.boards.svg.level_pictures import SnakesPicture, SokobanPicture
from ggp.boards.svg.markup import drawing_policy, element, stylesheet, text_of
from ggp.boards.svg.overlay import BoardOverlay
from ggp.boards.svg.picture import SvgPainter
from ggp.boards.text import Painter
from ggp.game import Game
from ggp.traces import Trace, find_traces
from ggp.web.choice.card_process import answer
from ggp.web.drawing_process import DrawnLine
from ggp.web.play.view import TableView
from ggp.web.replay.recorded import RecordedMatch
from ggp.web.replay.replay_process import game_of, painter_of
from players.kaskade.make_machine import make_machine
from players.match import Match
from players.puzzles.snakes.level import SnakeLevel, find_level, read_levels
from players.puzzles.snakes.rules import level_to_rules
from players.puzzles.sokoban.levels.gdl import level_of_gdl
from tests.examples import examples
from tests.games.rules_of_games import NAMES, rules
from tests.ggp.boards.found_boards import found
from tests.places import GAMES, ROOT, in_turn
from tests.players.puzzles.snakes.simulator import Position, Simulator


def painter_of_states(*states: str, roles: str = "white black", possible: str = "") -> Painter:
    """For a game of which these states are known, with no rules to tell more."""
    sets = [frozenset(terms(state)) for state in states]
    rules = parse_rules("(role white)", "test")
    board = board_of(rules, tuple(terms(roles)), sets, set(terms(possible)).union(*sets), bool(possible))
    return Painter(board, rules, tuple(terms(roles)))


def terms(text: str) -> list[Term]:
    return [parse_term(part if part[0] != "(" else part + ")") for part in _parts(text)]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(")") if part.strip()] if "(" in text else text.split()


def cells_of(rows: list[str]) -> str:
    """A state with a cell for each letter: w, b, and - for blank."""
    names = {"w": "white", "b": "black", "-": "blank"}
    return " ".join(
        f"(cell {x} {len(rows) - y} {names[letter]})"
        for y, row in enumerate(rows)
        for x, letter in enumerate(row, 1)
    )


BEFORE = cells_of(["b-b", "---", "ww-"])
AFTER = cells_of(["--b", "b--", "ww-"])


def test_what_changed_stands_in_brackets() -> None:
    painter = painter_of_states(BEFORE, AFTER)
    drawn = painter.draw(terms(AFTER), before=terms(BEFORE)).plain().splitlines()
    assert drawn == ["3 [.]. b", "2 [b]. .", "1  W W .", "   1 2 3"]
    neighbours = (
        painter.draw(terms(cells_of(["-bb", "---", "ww-"])), before=terms(BEFORE)).plain().splitlines()
    )
    assert neighbours[0] == "3 [.|b]b"
    last = painter.draw(terms(cells_of(["b--", "---", "ww-"])), before=terms(BEFORE)).plain().splitlines()
    assert last[0] == "3  b .[.]"


def test_brackets_are_left_out_where_most_squares_changed_or_none_did() -> None:
    painter = painter_of_states(BEFORE, AFTER)
    plain = painter.draw(terms(AFTER)).plain()
    assert painter.draw(terms(AFTER), before=terms(AFTER)).plain() == plain
    assert painter.draw(terms(AFTER), before=terms(cells_of(["bbw", "bwb", "--b"]))).plain() == plain


def test_pieces_have_the_colours_of_their_names() -> None:
    roles = tuple(terms("red blue"))
    assert role_styles(roles) == ["bold red", "bold blue"]
    assert role_styles(tuple(terms("xplayer oplayer"))) == ["bold cyan", "bold yellow"]
    mixed = role_styles(tuple(terms("cyan robot")))
    assert mixed[0] == "bold cyan" != mixed[1]
    state = "(cell 1 1 red) (cell 1 2 blue) (cell 2 1 orange) (cell 2 2 green_king) (cell 3 1 b) (cell 3 2 b)"
    painter = painter_of_states(state, state, roles="robot")
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
    return painter_of_states(state, state.replace("b)", "w)"), state.replace("b)", "blank)"))


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
    painter = painter_of_states(state, roles="north south")
    assert {meaning: sign for sign, meaning, _ in painter.legend} == {
        "nk": "K",
        "np": "P",
        "sk": "k",
        "sp": "p",
    }


def test_stickers_of_one_colour_have_one_letter_and_one_entry_of_the_legend() -> None:
    game = Game.load("rubikscube")
    machine = game.machine("prover")
    painter = Painter(find_board(machine), machine.rules, machine.roles)
    assert [(sign, meaning) for sign, meaning, _ in painter.legend] == [
        (colour[0].upper(), colour) for colour in ("blue", "green", "orange", "red", "white", "yellow")
    ]
    text = painter.draw_state(machine.initial_state()).plain()
    assert [sum(row.count(letter) for row in text.splitlines()[:9]) for letter in "BGORWY"] == [9] * 6


@pytest.mark.parametrize("kinds", [20, 40, 80, 200])
def test_every_kind_of_piece_has_a_sign_of_its_own(kinds: int) -> None:
    things = [f"p{i % 7}{'abcdefgh'[i // 7 % 8]}{i // 56}" for i in range(kinds)]
    state = " ".join(f"(cell {i // 20 + 1} {i % 20 + 1} {thing})" for i, thing in enumerate(things))
    painter = painter_of_states(state)
    assert len({sign for sign, _, _ in painter.legend} | {""}) > kinds or not painter.legend
    assert all(sign != "?" for sign, _, _ in painter.legend)


def test_four_sides_are_told_by_their_letters() -> None:
    kinds = [side + kind for side in ("north", "east", "south", "west") for kind in ("king", "pawn")]
    state = " ".join(f"(cell {i % 3 + 1} {i // 3 + 1} {kind})" for i, kind in enumerate([*kinds, "b"]))
    painter = painter_of_states(state, roles="north east south west")
    signs = {meaning: sign for sign, meaning, _ in painter.legend}
    assert signs["northking"] == "nK"
    assert signs["westpawn"] == "wP"
    assert len(set(signs.values())) == 8


# --- Levels of Snakes in a terminal: what is drawn can be read again
LEVELS = read_levels((GAMES / "levels" / "snakes.txt").read_text())
PARK = read_levels(
    """\
..*.......
11....!..E
1...v<$...
.>A.B.##..
##########
"""
)[0]


def painter_of_level(level: SnakeLevel, terminal: bool, unicode: bool = False) -> tuple[Game, SnakesPainter]:
    game = Game("level", level_to_rules(level))
    drawn = map_of_rules(game.rules)
    assert drawn is not None
    return game, SnakesPainter(game.rules, (), drawn, terminal, unicode)


def test_only_snakes_are_drawn_as_snakes() -> None:
    assert [name for name in NAMES if map_of_rules(rules(name)) is not None] == ["snakes"]


@pytest.mark.parametrize("level", [*LEVELS, PARK], ids=lambda level: level.title)
def test_the_first_state_is_the_level(level: SnakeLevel) -> None:
    game, painter = painter_of_level(level, terminal=False)
    state = game.machine("prover").initial_state()
    assert painter.draw_state(state).plain() == "\n".join(level.rows)


def stands(level: SnakeLevel, position: Position) -> set[Term]:
    from gdl.syntax.parser import parse_terms

    return set(parse_terms(" ".join(Simulator(level).propositions(position))))


@given(st.integers(0, 2**32), st.sampled_from([*LEVELS, PARK]))
@examples(20)
def test_every_drawing_is_read_as_the_state_that_it_shows(seed: int, level: SnakeLevel) -> None:
    chance, plain = random.Random(seed), Simulator(level)
    _, painter = painter_of_level(level, terminal=False)
    position = plain.start
    for _ in range(30):
        if plain.terminal(position):
            break
        position = plain.moves(position)[chance.choice(sorted(plain.moves(position)))]
        text = painter.draw(stands(level, position)).plain().split("\n")[: level.height]
        if any("E" in row for row in text) and not plain.solved(position):
            again = Simulator(read_levels("\n".join(text))[0])
            assert again.start == position


@pytest.mark.parametrize("unicode", [False, True])
def test_without_colours_everything_in_a_terminal_differs(unicode: bool) -> None:
    game, painter = painter_of_level(PARK, terminal=True, unicode=unicode)
    lines = painter.draw_state(game.machine("prover").initial_state()).plain().split("\n")
    right = "▸" if unicode else ">"
    assert lines[3].startswith("  a" + right + "A" + right)
    assert lines[1].rstrip().endswith("ex")
    cells = {line[i : i + 2] for line in lines for i in range(0, len(line), 2)}
    assert len(cells - {"  "}) == 11, "wall, spikes, fruit, exit, two blocks, two heads, three segments"
    unclad = {(row, x): character for row, line in enumerate(PARK.rows) for x, character in enumerate(line)}
    seen: dict[str, set[str]] = {}
    for (row, x), character in unclad.items():
        seen.setdefault(character, set()).add(lines[row].ljust(20)[2 * x : 2 * x + 2])
    assert all(len(glyphs) == 1 for glyphs in seen.values())
    glyphs = [next(iter(found)) for found in seen.values()]
    assert len(set(glyphs)) == len(glyphs)


def test_the_exit_opens_when_the_fruit_is_eaten() -> None:
    level = read_levels(">A*.E\n#####")[0]
    game, painter = painter_of_level(level, terminal=True)
    state = game.machine("prover").initial_state()
    assert "ex" in painter.draw_state(state).plain()
    after = state.play("(move a right)")
    assert "EX" in painter.draw_state(after).plain()


# --- Drawings as SVG: every square is there, every name is text, nothing runs
SVG = "{http://www.w3.org/2000/svg}"
PLAYTHROUGHS = find_traces([games_folder() / "playthroughs"])


def painter_of_trace(trace: Trace, most: int) -> tuple[SvgPainter, Sequence[frozenset[Term]]]:
    game = read_recorded(trace, most)
    board = board_of(game.rules, game.roles, list(game.states), set().union(*game.states))
    return SvgPainter(board, game.rules, game.roles, game.name), game.states


def check(painter: SvgPainter, states: Sequence[frozenset[Term]]) -> None:
    before = None
    for state in states:
        drawn = ET.fromstring(painter.draw(state, before))
        told = painter.describe(state, before)
        keys = [group.get("data-square") for group in drawn.iter(f"{SVG}g") if group.get("data-square")]
        keys = [key for key in keys if not key.startswith("sign")]
        assert keys == [square["square"] for square in told["squares"]]
        assert len(keys) == len(set(keys))
        assert (painter.board is None) == (not keys)
        width, height = (float(drawn.get(side, 0)) for side in ("width", "height"))
        for square in told["squares"]:
            assert 0 < square["x"] < width
            assert 0 < square["y"] < height
        for part in drawn.iter():
            assert part.tag != f"{SVG}script"
            assert not any(name.startswith("on") or name == "style" for name in part.attrib)
        # Every proposition is on the board or beside it.
        on = sum(len(square["things"]) for square in told["squares"])
        beside = sum(len(block["rows"]) for block in told["beside"])
        assert on + beside <= len(state) or (painter.board is not None and painter.board.heaps is not None)
        before = state


@pytest.mark.parametrize("trace", in_turn(PLAYTHROUGHS), ids=lambda trace: trace.name)
def test_every_game_of_ours_is_drawn(trace: Trace) -> None:
    painter, states = painter_of_trace(trace, 40)
    check(painter, [states[0], *states[-2:]])


@pytest.mark.slow
def test_public_games_are_drawn(corpus: Path) -> None:
    """Every third; `python -m bench.boards` draws them all."""
    for trace in find_traces([corpus])[::3]:
        painter, states = painter_of_trace(trace, 5)
        check(painter, states[-2:])


def test_what_has_changed_is_marked() -> None:
    machine = Game.load("tictactoe").machine("prover")
    painter = SvgPainter.of_machine(machine, "tictactoe")
    start = machine.initial_state()
    drawn = painter.draw_state(start.play("(mark b 2)"), start)
    marked = re.findall(
        r'data-square="([0-9,]*)"><title>[^<]*</title><rect [^>]*/><rect class="gb-new"', drawn
    )
    assert len(re.findall("gb-new", drawn)) == 1
    told = painter.describe(start.play("(mark b 2)").propositions, start.propositions)
    assert [square["name"] for square in told["squares"] if square["changed"]] == ["b 2"]
    assert "x on b 2" in drawn
    assert marked in ([], ["0,1,1"])


HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "]]>&lt;", "a\x00b\x1f\ufffe", "'"]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_text(name: str) -> None:
    rules = parse_rules("(role a) (init (p b)) (<= (legal a n) (true (p b))) (<= terminal (true (p b)))", "x")
    painter = SvgPainter(None, rules, (Term("a"),), name)
    drawn = ET.fromstring(painter.draw([Term(name, Term(name), Term(name)), Term(name)], alone=True))
    assert {part.tag for part in drawn.iter()} <= {
        SVG + t for t in ("svg", "title", "desc", "style", "g", "rect", "text")
    }
    assert all(not key.startswith("on") for part in drawn.iter() for key in part.attrib)


@given(st.text())
def test_any_text_can_be_written(text: str) -> None:
    read = ET.fromstring(element("a", text_of(text) or " ", title=text))
    assert set(read.attrib) == {"title"}
    assert len(read) == 0


def test_a_drawing_that_stands_alone_carries_its_colours() -> None:
    machine = Game.load("tictactoe").machine("prover")
    painter = SvgPainter.of_machine(machine, "tictactoe")
    alone = painter.draw_state(machine.initial_state(), alone=True)
    assert stylesheet() in alone
    assert "http" not in stylesheet()
    assert drawing_policy().startswith("default-src 'none'; style-src 'sha256-")


def test_classes_of_drawings_are_in_the_stylesheet() -> None:
    used: set[str] = set()
    for trace in PLAYTHROUGHS:
        painter, states = painter_of_trace(trace, 30)
        drawn = painter.draw(states[-1], states[-2])
        used |= {cls for classes in re.findall(r'class="([^"]*)"', drawn) for cls in classes.split()}
    assert used - {"gb-square", "gb"} <= set(re.findall(r"\.(gb-[a-z0-9]+)", stylesheet()))


# --- Pieces: what things look like, by what they do, whose they are, and what hints say
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
        ("chomp", {"chocolate": "chocolate"}),
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
        for drawn in (painter.draw_state(state), painter.draw_state(state, facts=False))
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
    assert "gb-fact" not in painter.draw_state(state, facts=False)


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
    others = {"king", "queen", "rook", "bishop", "knight", "pawn", "bar", "tray", "dice", "doubles"}
    others |= {"pegs", "pin", "ship", "shot", "car", "goat"} | FACTS | SIGNS
    assert {shape.value for shape in PieceShape} | {
        "wall",
        "letter",
        "loop",
        "man",
        "token",
    } >= LOOKS - others


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


@pytest.mark.parametrize("look", sorted(BOARDS - ROWS - {"none"}))
def test_every_look_of_a_board_is_drawn(look: str) -> None:
    game = {"towers": "hanoi", "race": "chess", "pits": "kalah", "dots": "dotsandboxes"}.get(look, "atarigo")
    drawn = hinted_painter(game, f"board as {look}").draw_state(found(game)[0].initial_state())
    signs = {"chequered": "gb-dark", "plain": "gb-cell", "points": "gb-point", "towers": "gb-disk"}
    signs |= {"race": "gb-felt", "pits": "gb-seed", "dots": "gb-point"}
    assert signs.get(look, f"gb-on{look}") in drawn
    assert (look in ("chequered", "race")) == ("gb-dark" in drawn)


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
    hint = BoardOverlay.of_move(ClickMove("(move e 2 e 4)", (("0,4,1",), ("0,4,3",))))
    assert hint == BoardOverlay(arrows=(("0,4,1", "0,4,3"),))
    drawn = painter.draw_state(machine.initial_state(), overlay=hint)
    assert drawn.count('class="gb-arrow"') == drawn.count('class="gb-arrowhead"') == 1
    assert BoardOverlay.of_move(ClickMove("(drop a)", (("0,0,0", "0,0,1"),))).hints == ("0,0,0", "0,0,1")
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
    assert ("die second 5" in drawn) == (shown == 0)


# --- There is one way to a picture: each card's, its table's, the solver's, a replay's and a notebook's show
# the same board, and nothing but the rules decides which
CARDS = [*known_games(), *known_levels()]


def plain(svg: str) -> str:
    """A drawing without its stylesheet and its name."""
    svg = re.sub(r"<style>.*?</style>", "", svg, flags=re.DOTALL)
    return re.sub(r"<title>[^<]*: a state</title>|aria-label=\"[^\"]*: a state\"", "", svg)


def used_machine(game: Game) -> Machine:
    """One that has numbered its moves and propositions in another order than a new one does."""
    machine = make_machine(game.rules, "prover")
    rng, state = random.Random(7), machine.initial_state()
    for _ in range(12):
        options = machine.options(state)
        if machine.is_terminal(state) or not all(options):
            break
        state = machine.next_state(state, [rng.choice(moves) for moves in options])
    return machine


@pytest.mark.parametrize("name", in_turn(CARDS))
def test_all_pictures_of_a_card_are_the_same(name: str) -> None:
    game = Game.load(name)
    machine = used_machine(game)
    card = plain(str(answer({"do": "draw", "name": name, "step": 0}, lambda kind, **news: None)["svg"]))
    table = TableView(game, machine).seen(Match(machine), 0)["svg"]
    assert plain(table) == card
    assert plain(DrawnLine(game.machine("prover"), game.name).draw([], 0)) == card
    carried = game_of(game.name, game.text)
    assert carried is not None
    replayed = painter_of(cast(RecordedMatch, None), carried)
    assert plain(replayed.draw_state(carried.machine("prover").initial_state(), facts=False)) == card
    notebook = carried.machine("prover").initial_state()._repr_svg_()
    assert notebook is not None
    board = re.search(r"<g transform=.*</g>(?=</svg>)", card, re.DOTALL)
    assert board is None or board[0] in plain(notebook)


@pytest.mark.parametrize("name", known_levels())
def test_a_level_is_drawn_whole_and_as_a_level_of_its_own_game(name: str) -> None:
    game = Game.load(name)
    machine = game.machine("prover")
    painter = SvgPainter.of_machine(machine)
    assert painter.board is not None
    size = len(painter.board.columns), len(painter.board.rows)
    drawn = level_of_gdl(game.text)
    if drawn is None:
        level = find_level(str(GAMES / "levels" / name))
        assert isinstance(painter._level, SnakesPicture)
        assert size == (level.width, level.height)
    else:
        assert isinstance(painter._level, SokobanPicture)
        walls = 0 if painter._level.margin else 2
        spread = [len({square[side] for square in drawn.inside}) for side in (0, 1)]
        assert size == (spread[0] + walls, spread[1] + walls), (
            "a wall on each side, drawn around or among them"
        )
    assert len(painter.draw_state(machine.initial_state(), facts=False)) < 250_000


@pytest.mark.parametrize("name", ["tictactoe", "checkers", "tutorial.xsb:2"])
def test_the_board_is_the_same_on_every_machine(name: str) -> None:
    game = Game.load(name)
    assert find_board(game.machine("propnet")) == find_board(used_machine(game))


def test_a_level_of_snakes_with_another_map_is_drawn_as_no_other_game() -> None:
    game = Game.load("snakes.txt:5")
    board = find_board(game.machine("prover"))
    assert board is not None
    cut = replace(board, rows=board.rows[:-1])
    assert SvgPainter(cut, game.rules, game.machine("prover").roles)._level is None


# --- The picture of every game that comes along is the one that somebody has looked at
KNOWN = orjson.loads((ROOT / GOLDEN).read_bytes())


@pytest.mark.parametrize("game", in_turn(own_games()))
def test_every_picture_is_the_one_that_was_looked_at(game: str) -> None:
    assert hashes(game) == KNOWN.get(game), "look at `python -m bench.boards`, then run it with --golden"


def test_no_picture_is_of_a_game_that_is_gone() -> None:
    assert sorted(KNOWN) == sorted(own_games())


def test_a_board_with_the_notation_of_draughts_has_its_numbers_and_no_letters() -> None:
    machine = Game.load("checkers").machine("prover")
    svg = SvgPainter.of_machine(machine).draw_state(machine.initial_state())
    numbers = map(int, re.findall(r'<text class="gb-number"[^>]*>(\d+)<', svg))
    assert sorted(numbers) == list(range(1, 33)) and "gb-axis" not in svg
    assert "<title>12: bm<" in svg
