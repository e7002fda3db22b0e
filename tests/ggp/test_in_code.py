"""Players and matches in code: any state, any role, names or classes of one's own."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import ggp
from gdl.errors import GdlError
from gdl.machine import State
from ggp.in_code import GamePlayer
from players.player import Choice, Player
from tests.ggp.program import python

SIMULTANEOUS = """
(role a) (role b) (<= (legal ?r (show ?x)) (role ?r) (sign ?x)) (sign 1) (sign 2) (init (at start))
(<= (next (at end)) (true (at start))) (<= terminal (true (at end)))
(<= (goal ?r 50) (role ?r))
"""


class Last(Player):
    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return Choice(self.in_order(options)[-1])


class Broken(Player):
    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        raise ZeroDivisionError("by its own fault")


def test_a_player_plays_whichever_role_is_to_move() -> None:
    game = ggp.load("tictactoe")
    state, moves = game.initial, 0
    with game.player("montecarlo:playouts=64", seed=3) as player:
        while not state.terminal:
            chosen = player.choose(state, seconds=0.5)
            assert list(chosen) == ["x", "o"]
            assert len(player.notes) == (sum(map(len, state.legal.values())) > 2)
            state, moves = state.play(chosen), moves + 1
    assert moves >= 5
    assert player.choose(state) == {}


def test_roles_that_move_at_once_may_be_played_by_one_or_two() -> None:
    game = ggp.load(SIMULTANEOUS)
    a, b = game.player("random", "a"), game.player(Last, "b")
    chosen = a.choose(game.initial) | b.choose(game.initial)
    assert chosen["b"] == "(show 2)"
    assert game.initial.play(chosen).terminal
    assert set(game.player("legal").choose(game.initial)) == {"a", "b"}


def test_a_state_of_another_machine_is_understood() -> None:
    game = ggp.load("tictactoe")
    state = game.machine("prover").initial_state().play("(mark b 2)")
    chosen = game.player("uct:playouts=2000", "o", machine="propnet").choose(state, seconds=1)
    assert chosen["o"] in state.legal["o"]


def test_what_takes_long_before_the_first_turn_does_not_count() -> None:
    class Slow(Player):
        left = 0.0

        def prepare(self, state: State, deadline: float) -> None:
            time.sleep(0.4)

        def decide(self, state: State, options: list[int], deadline: float) -> Choice:
            Slow.left = deadline - time.monotonic()
            return Choice(options[0])

    game = ggp.load("tictactoe")
    game.player(Slow).choose(game.initial, seconds=0.3)
    assert Slow.left > 0


def test_a_match_between_a_class_and_a_name() -> None:
    seen: list[str] = []
    game = ggp.load("tictactoe")
    match = game.play([Last, "random"], seed=5, watch=lambda state: seen.append(state.board()))
    assert match.players == {"x": "Last", "o": "random"}
    assert len(match.states) == len(match.moves) + 1 == len(seen)
    assert match.states[-1].terminal
    assert sum(value or 0 for value in match.goals.values()) == 100
    state = match.states[0]
    for move, after in zip(match.moves, match.states[1:], strict=True):
        state = state.play(move)
        assert state == after


def test_wrong_players_and_roles_are_refused() -> None:
    game = ggp.load("tictactoe")
    with pytest.raises(GdlError, match="1 player for 2 roles"):
        game.play(["uct"])
    with pytest.raises(GdlError, match=r"no role z.*x, o"):
        game.player("random", "z")
    with pytest.raises(GdlError, match="one Last cannot play 2 roles"):
        game.player(Last())
    with pytest.raises(GdlError, match="no player 'deep'"):
        game.player("deep")
    with pytest.raises(GdlError, match=r"the player Broken failed: ZeroDivisionError.*test_in_code\.py"):
        game.play([Broken, "random"])


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1, "1", None, 1e9])
def test_clocks_that_are_no_time_are_refused(seconds: Any) -> None:
    game = ggp.load("tictactoe")
    with pytest.raises(GdlError, match=r"give a number from 0 to 86,400"):
        game.play(["random", "random"], seconds=seconds)
    with pytest.raises(GdlError, match=r"startclock is .*give a number from 0 to 86,400"):
        game.play(["random", "random"], startclock=seconds)
    with pytest.raises(GdlError, match=r"give a number from 0 to 86,400"):
        game.player("random").choose(game.initial, seconds=seconds)
    with pytest.raises(GdlError, match="a player was expected, not"):
        game.player(seconds if seconds != "1" else 1)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1, "1", True])
def test_nobody_waits_for_what_is_no_time(seconds: Any) -> None:
    with pytest.raises(GdlError, match=r"seconds is .*give a number from 0 to"):
        ggp.load("tictactoe").ready(seconds)


@pytest.mark.parametrize("number", [-1, "x", 1.5, True, float("nan"), 2**64])
def test_seeds_and_limits_of_steps_are_whole_numbers(number: Any) -> None:
    game = ggp.load("tictactoe")
    with pytest.raises(GdlError, match=r"^seed is .*give a whole number from 0"):
        game.player("random", seed=number)
    for name in ("seed", "max_steps"):
        with pytest.raises(GdlError, match=rf"^{name} is .*give a whole number from 0"):
            game.play(["random", "random"], **{name: number})


@pytest.mark.parametrize("name", ["random", "greedy", "montecarlo:playouts=32", "uct:playouts=32,workers=1"])
def test_the_largest_seed_is_one(name: str) -> None:
    game = ggp.load("tictactoe")
    with game.player(name, "x", seed=2**63 - 1) as player:
        assert player.choose(game.initial, seconds=1)["x"] in game.initial.legal["x"]


@pytest.mark.parametrize("players", ["random", None, 3, {"x": "random", "o": "random"}, {"random"}])
def test_players_are_a_list(players: Any) -> None:
    with pytest.raises(GdlError, match=r"players is .*give a list with one for each of x, o"):
        ggp.load("tictactoe").play(players)


@pytest.mark.parametrize("state", [None, 3, "init", SIMULTANEOUS])
def test_a_player_is_asked_about_states(state: Any) -> None:
    with pytest.raises(GdlError, match="is not a state"):
        ggp.load("tictactoe").player("random").choose(state)
    with pytest.raises(GdlError, match="never be true in this game"):
        ggp.load("tictactoe").player("random").choose(ggp.load("connectfour").initial)


def test_matches_are_shown_with_their_goals_and_length() -> None:
    game = ggp.load("tictactoe")
    match = game.play([Last, "random"], seed=5)
    x, o = match.goals.values()
    assert repr(match) == f"<PlayedMatch of {len(match.moves)} steps: x Last {x}, o random {o}>"
    cut = game.play(["random", "random"], max_steps=1)
    assert repr(cut).startswith("<PlayedMatch of 1 step: x random 50, o random 50; cut after 1 step")


def test_a_clock_of_zero_seconds_is_one() -> None:
    match = ggp.load("tictactoe").play(["uct", "random"], seconds=0, startclock=0)
    assert match.states[-1].terminal


@pytest.mark.parametrize(
    ("name", "line"),
    [("tictactoe", "1  . . ."), ("sokoban", "#"), ("yards.xsb:1", "#")],
)
def test_boards_are_drawn(name: str, line: str) -> None:
    game = ggp.load(name)
    for state in (game.initial, game.machine("propnet").initial_state()):
        assert any(row.startswith(line) for row in state.board().split("\n"))


def test_a_machine_that_no_game_made_lists_what_is_true() -> None:
    from players.kaskade.make_machine import make_machine

    state = make_machine(ggp.load("tictactoe").rules, "prover").initial_state()
    assert state.board() == state.to_kif()


def test_the_package_says_its_version_and_stays_light() -> None:
    assert ggp.__version__ == metadata.version("kaskade-ggp")
    heavy = "{'numpy', 'numba', 'gdl'}"
    code = f"import ggp, sys; print(ggp.__version__, sorted({heavy} & set(sys.modules)))"
    result = python("-c", code)
    assert result.stdout.strip().endswith("[]")


@pytest.fixture
def own_folder(tmp_path: Path) -> Path:
    """A folder with a player's module in it."""
    text = Path(__file__).read_text(encoding="utf-8")
    body = text[text.index("class Last(") : text.index("class Broken(")]
    (tmp_path / "mine.py").write_text(f"from ggp import Choice, Player, State\n\n\n{body}")
    return tmp_path


def command(*arguments: str) -> list[str]:
    """A call of ggp as its console script calls it: the current folder is not on Python's path."""
    call = "import sys; sys.path = [p for p in sys.path if p]; import ggp.cli; ggp.cli.main()"
    return [sys.executable, "-P", "-c", call, *arguments]


@pytest.mark.slow
def test_a_class_of_the_current_folder_is_served(own_folder: Path) -> None:
    call = command("serve", "--port", "0", "--player", "mine:Last", "--machine", "prover")
    with subprocess.Popen(call, cwd=own_folder, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            log = iter(process.stderr)
            port = next(found[1] for line in log if (found := re.search(r"port=(\d+)", line)))
            hosted = command("host", "tictactoe", "-p", f"127.0.0.1:{port},legal", "--clock", "3")
            result = python(*hosted[1:], cwd=own_folder, PYTHONPATH="")
        finally:
            process.terminate()
        said = "".join(log)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "event=result" in said
    assert "event=error" not in said
    assert "cannot be made" not in said
    # The last of the marks in the order of their text.
    assert "(mark c 3)" in result.stdout.split("\n")[1]


def test_players_are_named() -> None:
    assert isinstance(player := ggp.load("tictactoe").player("legal"), GamePlayer)
    assert repr(player) == "<GamePlayer legal for x, o>"
