"""Levels of Snakes in a terminal: what is drawn can be read again."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.terms import Term
from ggp.boards.snakes import SnakesPainter, map_of_rules
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
