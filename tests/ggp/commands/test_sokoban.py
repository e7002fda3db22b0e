"""``ggp rules`` writes rules that play, and says what is wrong with a level."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from gdl.checks.diagnostic import Severity
from gdl.checks.run import check_text
from ggp.commands.puzzles.rules import command
from tests.ggp.program import ggp

LEVELS = "; one\n\n######\n#@ $.#\n######\n\n; two\n\n#######\n#@ $ .#\n#  @  #\n#######\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "my levels.xsb"
    path.write_text(LEVELS)
    return path


def run(*words: str | Path) -> tuple[int, str]:
    app = typer.Typer()
    app.command()(command)
    result = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    return result.exit_code, result.output


@pytest.mark.parametrize("form", [[], ["--pushes"]])
def test_the_rules_of_a_level_are_printed(file: Path, form: list[str]) -> None:
    status, output = run(file, *form, "--steps", "70")
    assert status == 0
    rules, findings = check_text(output)
    assert rules is not None
    assert not [d for d in findings if d.severity > Severity.INFO]
    assert "or after 70 moves" in output
    assert ("(push ?x ?y ?d)" in output) == bool(form)


def test_the_rules_go_to_a_file_that_plays(file: Path, tmp_path: Path) -> None:
    output = tmp_path / "game.kif"
    output.write_text(run(f"{file}:1")[1])
    done = ggp("validate", str(output))
    assert done.returncode == 0
    assert "0 errors, 0 warnings" in done.stdout


def test_levels_that_come_along_need_no_path() -> None:
    assert "; Sokoban, Two wings" in run("yards.xsb:4")[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rules", "{file}:2"], "{file}:11:4: the level has 2 keepers: this is the second (the first"),
        (["play", "{file}:2"], "{file}:11:4: the level has 2 keepers"),
        (["solve", "{file}:3"], "{file}: there is no level 3: the file has 2 levels (write"),
        (["rules", "nowhere.xsb"], "cannot read nowhere.xsb: there is no such file (name"),
        (["rules", "snakes.txt", "--pushes"], "--pushes is not for snakes.txt (leave it out)"),
    ],
)
def test_errors_are_one_line_and_an_excerpt(file: Path, words: list[str], message: str) -> None:
    line = [word.format(file=file) for word in words]
    done = ggp(*line)
    assert done.returncode == 2
    assert done.stderr.startswith("ggp: " + message.format(file=file)), done.stderr
    _, *excerpt = done.stderr.splitlines()
    assert len(excerpt) == (2 if ":11:4:" in message else 0)
    assert not excerpt or excerpt[1].endswith("^")
