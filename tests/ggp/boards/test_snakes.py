"""Levels of Snakes in a terminal: what is drawn can be read again; what the last move did is said."""

from __future__ import annotations

import io
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from gdl.terms import Term
from ggp.boards.snakes import SnakesPainter, last_move, map_of_rules, print_level
from ggp.commands.puzzles.rules import command
from ggp.game import Game
from players.puzzles.snakes.level import SnakeLevel, read_levels
from players.puzzles.snakes.rules import level_to_rules
from tests.examples import examples
from tests.games.rules_of_games import NAMES, rules
from tests.places import GAMES
from tests.players.puzzles.snakes.simulator import Position, Simulator

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


def painter_of(level: SnakeLevel, terminal: bool, unicode: bool = False) -> tuple[Game, SnakesPainter]:
    game = Game("level", level_to_rules(level))
    drawn = map_of_rules(game.rules)
    assert drawn is not None
    return game, SnakesPainter(game.rules, (), drawn, terminal, unicode)


def test_only_snakes_are_drawn_as_snakes() -> None:
    assert [name for name in NAMES if map_of_rules(rules(name)) is not None] == ["snakes"]


@pytest.mark.parametrize("level", [*LEVELS, PARK], ids=lambda level: level.title)
def test_the_first_state_is_the_level(level: SnakeLevel) -> None:
    game, painter = painter_of(level, terminal=False)
    state = game.machine("prover").initial_state()
    assert painter.draw_state(state).plain() == "\n".join(level.rows)


def stands(level: SnakeLevel, position: Position) -> set[Term]:
    from gdl.syntax.parser import parse_terms

    return set(parse_terms(" ".join(Simulator(level).propositions(position))))


@given(st.integers(0, 2**32), st.sampled_from([*LEVELS, PARK]))
@examples(20)
def test_every_drawing_is_read_as_the_state_that_it_shows(seed: int, level: SnakeLevel) -> None:
    chance, plain = random.Random(seed), Simulator(level)
    _, painter = painter_of(level, terminal=False)
    position = plain.start
    for _ in range(30):
        if plain.terminal(position):
            break
        position = plain.moves(position)[chance.choice(sorted(plain.moves(position)))]
        text = painter.draw(stands(level, position)).plain().split("\n")[: level.height]
        if any("E" in row for row in text) and not plain.solved(position):
            again = Simulator(read_levels("\n".join(text))[0])
            assert again.start == position


@given(st.integers(0, 2**32), st.sampled_from([*LEVELS, PARK]))
@examples(20)
def test_the_last_move_is_told_from_the_states_around_it(seed: int, level: SnakeLevel) -> None:
    chance, plain = random.Random(seed), Simulator(level)
    _, painter = painter_of(level, terminal=False)
    position = plain.start
    for _ in range(30):
        if plain.terminal(position):
            break
        move = chance.choice(sorted(plain.moves(position)))
        after = plain.moves(position)[move]
        told = last_move(*(painter.map.standing(stands(level, p)) for p in (position, after)))
        if move == "fall":
            assert "down" in told or "gone" in told
        elif move == "leave":
            assert told.endswith("leaves")
        else:
            snake, way = move[len("(move ") : -1].split()
            assert re.match(rf"{snake.upper()} [<>^v] {way}\b", told)
            assert ("eats" in told) == (position.fruit != after.fruit)
            untouched = {name for name, _ in position.things & after.things if name}
            pushed = {name for name, _ in position.things if name} - untouched - {snake}
            named = set(told.partition("pushes ")[2].lower().split()) - {"$"}
            assert named == pushed
        position = after


@pytest.mark.parametrize("unicode", [False, True])
def test_without_colours_everything_in_a_terminal_differs(unicode: bool) -> None:
    game, painter = painter_of(PARK, terminal=True, unicode=unicode)
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
    game, painter = painter_of(level, terminal=True)
    state = game.machine("prover").initial_state()
    assert "ex" in painter.draw_state(state).plain()
    after = state.play("(move a right)")
    assert "EX" in painter.draw_state(after).plain()
    assert painter.draw_state(after.play("(move a right)"), before=after).plain().count("A > right") == 1


def test_levels_are_printed_with_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    command("snakes.txt", draw=True)
    text = capsys.readouterr().out
    for number, level in enumerate(LEVELS, 1):
        assert f"snakes.txt:{number} {level.title}" in text
        assert "\n".join(level.rows) in text
    command("snakes.txt:2", draw=True)
    assert capsys.readouterr().out.count("snakes.txt") == 1
    console = Console(file=io.StringIO(), force_terminal=True, width=60)
    print_level(console, PARK, "park", unicode=True)
    assert "\x1b[" in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_straight_snake_that_is_pushed_did_not_move_itself() -> None:
    level = read_levels("..\nA.\n^.\nB.\n^E\n##")[0]
    game, painter = painter_of(level, terminal=False)
    state = game.machine("prover").initial_state()
    drawn = painter.draw_state(state.play("(move b up)"), before=state).plain()
    assert drawn.endswith("\nB ^ up, pushes A")
