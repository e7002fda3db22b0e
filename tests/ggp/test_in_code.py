"""Games, states, players and matches in code and in notebooks: by name, by path, as text, as levels."""

from __future__ import annotations

import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ggp
from gdl import check_text, format_text, parse_rules, parse_term, parse_terms
from gdl.errors import GdlError
from gdl.machine import State
from gdl.syntax.format import convert
from gdl.syntax.notation import Notation
from ggp.cli import build
from ggp.game import Game
from ggp.in_code import GamePlayer
from ggp.rule_files import installed_games, locate_level
from ggp.terminal.drawing import plain_drawing
from players.kaskade.make_machine import make_machine
from players.player import Choice, Player
from players.puzzles.sokoban.levels.gdl import level_of_gdl
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
    ("name", "line"), [("tictactoe", "1  . . ."), ("sokoban", "#"), ("yards.xsb:1", "#")]
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


# --- Games are found by name, by path, as text and as levels of Sokoban
MAP = "######\n#@ $.#\n######\n"


def test_a_level_is_a_game(tmp_path: Path) -> None:
    path = tmp_path / "three.xsb"
    path.write_text("\n".join([MAP] * 3))
    for source, name in ((path, "three"), (str(path), "three"), (f"{path}:2", "three-2")):
        game = Game.load(source)
        assert game.name == name
        assert level_of_gdl(game.text) is not None
        state = game.machine("prover").initial_state()
        assert state.legal == {"keeper": ["(move right)"]}
        assert state.play("(move right)").play("(move right)").goals == {"keeper": 100}
    with pytest.raises(GdlError, match="no level 4"):
        Game.load(f"{path}:4")


def test_a_text_file_is_a_level_or_rules(tmp_path: Path) -> None:
    path = tmp_path / "game.txt"
    path.write_text(MAP)
    assert level_of_gdl(Game.load(path).text) is not None
    path.write_text("(role a) (legal a b) (init c) (next c) terminal (goal a 1) ; #@$.#\n")
    assert level_of_gdl(Game.load(path).text) is None
    assert [str(role) for role in Game.load(path).machine("prover").roles] == ["a"]


def test_a_folder_with_parentheses_in_its_name_is_no_rules(tmp_path: Path) -> None:
    folder = tmp_path / "levels (old)"
    folder.mkdir()
    (folder / "a.xsb").write_text(MAP)
    assert level_of_gdl(Game.load(f"{folder}/a.xsb:1").text) is not None


def test_levels_that_come_along_are_found_unless_there_is_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert locate_level("city.xsb:3").endswith("games/levels/city.xsb:3")
    Path("city.xsb").write_text(MAP, encoding="utf-8")
    assert locate_level("city.xsb:3") == "city.xsb:3"
    level = level_of_gdl(Game.load("city.xsb").text)
    assert level is not None
    assert level.width == 6


def test_a_game_in_prolog_is_sent_to_managers_as_kif(tmp_path: Path) -> None:
    ours = Game.load("tictactoe")
    path = tmp_path / "mine.pl"
    path.write_text(convert(ours.text, "prolog"))
    game = Game.load(path)
    assert (game.name, game.rules.notation) == ("mine", "prolog")
    assert parse_rules(game.kif, notation="kif").rules == ours.rules.rules
    assert Game.load(path.read_text()).rules.rules == ours.rules.rules
    # The ending decides where the look does not.
    for ending, notation in (("pl", "prolog"), ("hrf", "infix")):
        other = tmp_path / f"other.{ending}"
        other.write_text("role(x) :- p(x).\np(x).")
        assert Game.load(other).rules.notation == notation


@pytest.mark.parametrize("source", [None, 7, b"tictactoe", [], ""])
def test_what_is_no_name_of_a_game_is_refused_in_a_sentence(source: Any) -> None:
    with pytest.raises(GdlError, match="a game's name, its file or its rules were expected, not"):
        Game.load(source)


@pytest.mark.parametrize("read", [parse_rules, parse_term, parse_terms, format_text, check_text])
@pytest.mark.parametrize("text", [None, 7, b"(role x)", ["(role x)"]])
def test_what_is_no_text_is_refused_in_a_sentence(read: Any, text: Any) -> None:
    with pytest.raises(GdlError, match="a text was expected, not"):
        read(text)


def test_the_list_of_games_counts_the_roles_that_somebody_plays() -> None:
    listed = CliRunner().invoke(build("games"), ["games"], env={"COLUMNS": "100"}).stdout
    roles = dict(re.findall(r"^ (\w+) +(\d(?:, chance)?)  ", listed, re.MULTILINE))
    assert (roles["tictactoe"], roles["hanoi"], roles["kuhn"]) == ("2", "1", "2, chance")
    assert set(roles) == {path.stem for path in installed_games()}


# --- Games and states in notebooks
NOTATIONS: dict[Notation, str] = {"kif": "(control x)", "infix": "control(x)"}


def test_a_state_is_a_drawing_in_a_notebook() -> None:
    game = Game.load("tictactoe")
    state = game.machine("prover").initial_state().play("(mark b 2)")
    drawing = state._repr_svg_()
    assert drawing is not None
    assert "x on b 2" in drawing
    ET.fromstring(drawing)
    assert make_machine(game.rules, "prover").initial_state()._repr_svg_() is None


def test_a_game_is_its_first_state_and_its_roles() -> None:
    html = Game.load("rockpaperscissors")._repr_html_()
    assert "<svg" in html
    assert "rockpaperscissors" in html
    ET.fromstring(html)
    hostile = Game("<b>x</b>", Game.load("tictactoe").text)._repr_html_()
    assert "<b>" not in hostile


def test_what_stands_beside_a_board_is_in_the_notation_of_the_rules() -> None:
    rules = Game.load("tictactoe").text
    for notation, beside in NOTATIONS.items():
        state = Game.load(convert(rules, notation)).machine("prover").initial_state()
        assert plain_drawing(state.machine, "game")(state).splitlines()[-1] == beside
