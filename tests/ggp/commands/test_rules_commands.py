"""``ggp validate``, ``format``, ``scramble``, ``ground`` and ``games``: what they print and how they exit."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from gdl.grounding.pipeline import ground
from gdl.syntax.format import convert
from gdl.syntax.notation import Notation
from gdl.syntax.parser import parse_rules
from ggp.cli import build
from ggp.commands.rules.ground import command
from ggp.game import Game
from ggp.rule_files import installed_games

GOOD = """\
(role a)
(init (at 1))
(<= (legal a go) (true (at ?x)) (after ?x 2))
(<= (next (at ?y)) (does a go) (true (at ?x)) (after ?x ?y))
(after 1 2)
(<= terminal (true (at 2)))
(<= (goal a 100) terminal)
"""
DOUBTFUL = GOOD + "(<= (goal a 0) (not (before 1 2)))\n"
FAULTY = GOOD + "(<= (p a)\n"


def run(*words: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(build(str(words[0])), list(map(str, words)))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    paths = {}
    for name, text in (("good", GOOD), ("doubtful", DOUBTFUL), ("faulty", FAULTY)):
        paths[name] = tmp_path / f"{name}.kif"
        paths[name].write_text(text)
    return paths


def test_validate_exits_by_severity(files: dict[str, Path], tmp_path: Path) -> None:
    assert run("validate", files["good"])[0] == 0
    assert run("validate", files["doubtful"])[0] == 0
    assert run("validate", "--strict", files["doubtful"])[0] == 1
    assert run("validate", files["good"], files["faulty"])[0] == 1
    assert run("validate", tmp_path / "absent.kif", files["good"])[0] == 2


def test_validate_prints_place_severity_code_message_and_remedy(files: dict[str, Path]) -> None:
    status, output = run("validate", "--no-play", files["doubtful"])
    assert status == 0
    path = files["doubtful"]
    assert f"{path}:8:21: warning[undefined-relation]: no rule defines 'before' with 2 arguments\n" in output
    assert "  remedy: define it" in output
    assert output.endswith("1 file, 0 errors, 1 warning, 0 notes\n")


STUCK = """\
(role a) (role a)
(init (at 1)) (init (at 2))
(<= (legal a (go ?x)) (true (at ?x)) (distinct ?x 1))
(<= (next (at 1)) (does a (go 2)))
(<= terminal (true (at 3)))
(goal a 60)
"""


@pytest.mark.parametrize("notation", ["kif", "infix"])
def test_what_playing_shows_comes_last_without_notes_too_and_quotes_the_notation(
    notation: Notation, tmp_path: Path
) -> None:
    path = tmp_path / "stuck.rules"
    path.write_text(convert(STUCK, notation))
    _, output = run("validate", path)
    kinds = [
        line.split(": ")[1] for line in output.splitlines() if "[" in line and line.startswith(str(path))
    ]
    assert kinds[:3] == ["warning[duplicate-rule]", "warning[no-such-value]", "error[stuck-role]"]
    assert "warning[cannot-win]" in kinds[3:]
    shown = {"kif": ("moves: 1. (go 2)", "state: (at 1)"), "infix": ("moves: 1. go(2)", "state: at(1)")}
    assert all(line in output for line in shown[notation])


def test_validate_prints_one_json_object_per_finding(files: dict[str, Path]) -> None:
    status, output = run("validate", "--json", files["faulty"])
    (diagnostic,) = [json.loads(line) for line in output.splitlines()]
    assert status == 1
    assert (diagnostic["line"], diagnostic["column"], diagnostic["code"]) == (8, 1, "unclosed-parenthesis")
    assert diagnostic["file"] == str(files["faulty"])
    assert diagnostic["severity"] == "error"


def test_format_prints_writes_or_checks(files: dict[str, Path]) -> None:
    path = files["good"]
    status, output = run("format", path)
    assert status == 0
    assert "(<= terminal\n  (true (at 2)))\n" in output
    assert run("format", "--check", path) == (1, f"would change {path}\n")
    assert path.read_text() == GOOD
    assert run("format", "--write", path) == (0, f"changed {path}\n")
    assert path.read_text() == output
    assert run("format", "--check", path) == (0, "")
    assert run("format", "-w", path) == (0, "")


def test_format_leaves_faulty_files_alone(files: dict[str, Path]) -> None:
    status, output = run("format", "-w", files["faulty"])
    assert status == 2
    assert "is never closed" in output
    assert files["faulty"].read_text() == FAULTY


@pytest.mark.parametrize("notation", ["kif", "infix", "prolog"])
def test_every_notation_is_formatted_validated_and_scrambled(
    notation: str, files: dict[str, Path], tmp_path: Path
) -> None:
    ending = {"kif": "kif", "infix": "hrf", "prolog": "pl"}[notation]
    path = tmp_path / f"game.{ending}"
    status, text = run("format", "--to", notation, files["good"])
    path.write_text(text)
    assert status == 0
    assert parse_rules(text).notation == notation
    assert run("format", path) == (0, text)
    assert run("format", "--to", "prefix", path) == run("format", files["good"])
    assert run("validate", path)[0] == 0
    status, scrambled = run("scramble", path, "--seed", "3")
    assert status == 0
    assert parse_rules(scrambled).notation == notation
    assert parse_rules(scrambled).rules == parse_rules(run("scramble", files["good"], "--seed", "3")[1]).rules


# --- ``ggp ground`` prints rules that can be read back, and counts
def test_the_printed_rules_ground_to_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    command("tictactoe")
    printed = capsys.readouterr().out
    assert "?" not in printed
    original = ground(Game.load("tictactoe").rules)
    again = ground(parse_rules(printed))
    assert again.roles == original.roles
    assert again.bases == original.bases
    assert again.moves == original.moves
    assert len(again.heads) == len(original.heads)
    assert again.initial.tolist() == original.initial.tolist()


def test_counts_come_as_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    command("tictactoe", stats=True)
    assert "base_propositions" in capsys.readouterr().out


def test_games_says_how_to_play_those_that_are_named(files: dict[str, Path]) -> None:
    status, output = run("games", "liarsdice", "yards.xsb:2", files["good"])
    assert status == 0
    assert output.startswith(
        "Liar's dice: dice game, bluffing game\nPlayers: first, second and chance\n\nEach"
    )
    assert "Players: keeper\n\nPush every box onto a goal." in output
    assert "\ngood\nPlayers: a\n\nThe rules do not say how to play.\n" in output
    listed = json.loads(run("games", "--json", "chess")[1])
    assert listed["how"].startswith("Checkmate") and listed["kinds"] == ["board game", "capture game"]


def test_games_are_listed_by_kind() -> None:
    _, every = run("games")
    _, puzzles = run("games", "puzzles")
    kinds = {path.parent.name for path in installed_games()}
    assert kinds <= set(every.split())
    assert "hanoi" in puzzles and "othello" not in puzzles
    found = [json.loads(line) for line in run("games", "puzzles", "--json")[1].splitlines()]
    assert {game["folder"] for game in found} == {"puzzles"}
    assert [game["game"] for game in found] == sorted(
        p.stem for p in installed_games() if p.parent.name == "puzzles"
    )


def test_an_exported_game_is_read_back_from_the_files_that_its_metadata_names(tmp_path: Path) -> None:
    """The way of ggp-base: games/NAME/METADATA, a JSON object; the values of some keys are names of files."""
    names = ["tictactoe", "hanoi", "montyhall", "rockpaperscissors", "hex:4", "yards.xsb:2"]
    assert run("games", *names, "--export", tmp_path)[0] == 0
    for name in names:
        game = Game.load(name)
        folder = tmp_path / "games" / game.name.replace(":", "-")
        about = json.loads((folder / "METADATA").read_text())
        assert {"gameName", "version", "rulesheet", "description", "numRoles", "roleNames"} <= set(about)
        assert len(about["roleNames"]) == about["numRoles"]
        assert about["roleNames"] == list(game.initial.legal)
        kif, infix = (Game.load(folder / about[key]) for key in ("rulesheet", "infix"))
        assert (kif.rules.notation, infix.rules.notation) == ("kif", "infix")
        assert tuple(kif.rules) == tuple(infix.rules) == tuple(game.rules)
        assert ElementTree.parse(folder / about["image"]).getroot().tag.endswith("svg")
        assert (folder / about["description"]).read_text().startswith(about["gameName"])
        assert not [path for path in folder.iterdir() if path.name.startswith("v")], (
            "ggp-base takes v1 for a version"
        )
    assert run("games", "tictactoe", "--export", tmp_path / "games" / "tictactoe" / "METADATA")[0] == 1


@pytest.mark.parametrize("kind", ["board", "puzzle", "simultaneous", "hex:4"])
def test_a_new_game_is_clean_plays_and_is_never_overwritten(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, told = run("new", "my_game", kind)
    assert status == 0 and "ggp validate my_game.kif" in told
    status, found = run("validate", "--strict", "my_game.kif")
    assert status == 0 and found.startswith("1 file, 0 errors, 0 warnings")
    assert run("format", "--check", "my_game.kif")[0] == 0
    text = Path("my_game.kif").read_text(encoding="utf-8")
    assert "varies:" not in text or kind not in ("board", "puzzle")
    for again in ("my_game", "no/folder", "a-b"):
        assert CliRunner().invoke(build("new"), ["new", again, kind]).exit_code != 0
    assert Path("my_game.kif").read_text(encoding="utf-8") == text and len([*tmp_path.iterdir()]) == 1
