"""The tables player: never worse than the table says, and not lost where there is none."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bench.boards.sizes import nim
from gdl.machine import Machine, State
from ggp.game import Game
from players.player import Player
from players.registry import make_player
from tests.players.strong.tables import table_of


def started(machine: Machine, role: int, folder: Path | str, **options: object) -> tuple[Player, list[str]]:
    player = make_player("tables", 3, dir=str(folder), **options)
    told: list[str] = []
    player.found_out = told.append
    soon = time.monotonic() + 0.3
    player.start(machine, role, machine.initial_state(), 0.3, soon)
    return player, told


def worst(player: Player, machine: Machine, role: int) -> int:
    """What the player gets at least, whatever the other one does."""
    known: dict[State, int] = {}

    def visit(state: State) -> int:
        if state not in known:
            if machine.is_terminal(state):
                goal = machine.goal(state, role)
                assert goal is not None
                known[state] = goal
            else:
                options = [machine.legal_moves(state, r) for r in (0, 1)]
                if len(options[role]) > 1:
                    options[role] = [player.choose(state, time.monotonic() + 1).move]
                after = [machine.next_state(state, (a, b)) for a in options[0] for b in options[1]]
                known[state] = min(map(visit, after))
        return known[state]

    return visit(machine.initial_state())


@pytest.mark.parametrize("level", ["prover", "propnet"])
@pytest.mark.parametrize(
    ("text", "values"), [("tictactoe", (50, 50)), ("nim", (100, 0)), (nim(1, 2, 3), (0, 100))]
)
def test_it_gets_the_value_of_the_game_against_every_play(
    level: str, text: str, values: tuple[int, int], tmp_path: Path
) -> None:
    table_of(text, folder := tmp_path / "table")
    machine = Game.load(text).machine(level)
    for role in (0, 1):
        player, told = started(machine, role, folder)
        assert worst(player, machine, role) >= values[role]
        assert not told
        player.stop()


def test_it_wins_by_the_shortest_way(tmp_path: Path) -> None:
    table_of("tictactoe", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    for mine, theirs in (("(mark a 1)", "(mark b 1)"), ("(mark a 2)", "(mark b 2)")):
        state = state.play(mine, "noop").play("noop", theirs)
    player, _ = started(machine, 0, folder)
    choice = player.choose(state, time.monotonic() + 1)
    assert str(machine.move(0, choice.move)) == "(mark a 3)"
    assert choice.note == "from the table: 100, ends after 1 move"


def test_without_a_table_that_fits_another_player_moves(tmp_path: Path) -> None:
    table_of("nim", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    state = machine.initial_state()
    for where, why in ((folder, "is for other rules"), (tmp_path / "none", "there is no table")):
        player, told = started(machine, 0, where, otherwise="legal")
        assert why in told[0] and told[0].endswith("legal plays")
        choice = player.choose(state, time.monotonic() + 1)
        assert choice.move == make_legal(machine, state)
        assert why in choice.note
        player.stop()


def test_in_a_state_that_the_table_lacks_another_player_moves(tmp_path: Path) -> None:
    table_of("tictactoe", folder := tmp_path / "table")
    machine = Game.load("tictactoe").machine("prover")
    player, told = started(machine, 0, folder, otherwise="legal")
    state = machine.state_of(
        machine.proposition(machine.proposition_id(p))
        for p in machine.initial_state().play("(mark b 2)", "noop").propositions
        if "control" not in str(p)
    )
    control = next(p for p in machine.initial_state().propositions)
    state = machine.state_of({*state.propositions, control})  # x has moved, and is to move again
    choice = player.choose(state, time.monotonic() + 1)
    assert choice.move == make_legal(machine, state)
    assert told == ["the table does not have this state; legal plays"]


def make_legal(machine: Machine, state: State) -> int:
    player = make_player("legal")
    player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    return player.choose(state, time.monotonic() + 0.1).move


def test_the_other_player_gets_options(tmp_path: Path) -> None:
    machine = Game.load("tictactoe").machine("prover")
    player, _ = started(machine, 0, tmp_path, otherwise="montecarlo", workers=1, ponder=False)
    other = player._other  # type: ignore[attr-defined]
    assert other.name == "montecarlo"
    player.stop()
