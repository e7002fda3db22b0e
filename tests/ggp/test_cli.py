"""The command line as a whole: help, errors, exit status, and what it costs to ask."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from ggp.cli import build, modules
from ggp.commands import THEMES
from players.plugins import Plugin, plugins
from tests.ggp.program import ggp as run
from tests.ggp.program import python
from tests.places import ROOT


def module_of(name: str) -> ModuleType:
    """The module of a command."""
    return importlib.import_module(modules()[name][1].module)


def test_help_lists_each_command_once_under_the_title_of_its_theme() -> None:
    shown = run("--help").stdout
    folders = {theme: importlib.import_module(f"ggp.commands.{theme}") for theme in THEMES}
    titles = {theme: (inspect.getdoc(folder) or "").partition(":")[0] for theme, folder in folders.items()}
    parts = {theme: shown.partition(f"\n{title}:\n")[2] for theme, title in titles.items()}
    for name, (theme, _) in modules().items():
        assert f"\n  {name} " in "\n" + parts[theme].partition("\n\n")[0]
        assert shown.count(f"\n  {name} ") == 1
        text = inspect.getdoc(module_of(name).command) or ""
        assert f" {text.splitlines()[0]}\n" in shown


@pytest.mark.parametrize("name", modules())
def test_every_command_has_a_module_with_a_documented_function(name: str) -> None:
    command = module_of(name).command
    first, _, rest = (inspect.getdoc(command) or "").partition("\n")
    assert first.endswith(".")
    assert not rest or rest.startswith("\n")


def test_every_module_of_a_command_is_listed() -> None:
    folder = ROOT / "ggp" / "commands"
    files = {path.stem.replace("_", "-") for path in folder.glob("*/[!_]*.py")}
    assert files == set(modules())
    assert {path.parent.name for path in folder.glob("*/*.py")} == set(THEMES)


def test_another_package_adds_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "say_hello.py").write_text(
        "import typer\n\ndef command(who: str = typer.Argument('you')) -> None:\n"
        '    """Greet somebody.\n\n    At length."""\n    typer.echo(f"hello {who}")\n'
    )
    monkeypatch.syspath_prepend(tmp_path)
    found = {**plugins("commands"), "say-hello": Plugin("say-hello", "say_hello", "command")}
    monkeypatch.setattr("ggp.cli.plugins", lambda kind: found)
    assert modules()["say-hello"][0] == "other"
    listed = CliRunner().invoke(build(None), ["--help"])
    assert "Commands of other packages:" in listed.output
    assert "Greet somebody.\n" in listed.output
    assert "At length" not in listed.output
    done = CliRunner().invoke(build("say-hello"), ["say-hello", "me"])
    assert (done.exit_code, done.output) == (0, "hello me\n")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['ggp', '--help']\n"
        "from ggp.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'rich.console', 'asyncio', 'llvmlite'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = python("-c", code)
    assert done.returncode == 0, done.stderr


def test_version() -> None:
    assert run("--version").stdout.startswith("ggp")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["play", "no-such-game"], "no game or file"),
        (["play", "tictacto"], "did you mean tictactoe"),
        (["bench", "tictactoe", "--machine", "abacus"], "abacus"),
        (["verify", "no-such-folder"], "no-such-folder"),
        (["play", "tictactoe", "-p", "human", "--json"], "no room for a person"),
    ],
)
def test_wrong_use_is_answered_with_a_readable_line_and_status_2(arguments: list[str], says: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert says in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


BROKEN = """\
(role x)
(init a)
(legal x go)
(<= (p ?x)
  (true ?x) (not (q ?x)))
(<= (q ?x) (true ?x) (not (p ?x)))
(<= terminal (p a))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        "play {unclosed}",
        "solve {unclosed}",
        "host {unclosed} -p random",
        "format {unclosed}",
        "bench {unclosed}",
        "tournament {unclosed} -p random,legal -d {folder}/t.sqlite",
        "play {cycle}",
        "ground {cycle}",
        "host {cycle} -p random",
    ],
)
def test_every_command_shows_where_rules_are_at_fault(words: str, tmp_path: Path) -> None:
    unclosed, cycle = tmp_path / "unclosed.kif", tmp_path / "cycle.kif"
    unclosed.write_text("(role x)\n  (init a\n(legal x go)\n")
    cycle.write_text(BROKEN)
    done = run(*words.format(unclosed=unclosed, cycle=cycle, folder=tmp_path).split())
    assert done.returncode == 2
    said = done.stderr.splitlines()[-3:]
    if "unclosed" in words:
        assert said[0] == f"ggp: {unclosed}:2:3: this '(' is never closed (add the missing ')')"
        assert said[1:] == ["    2 |   (init a", "      |   ^^^^^^^"]
    else:
        assert said[0].startswith(f"ggp: {cycle}:4:1: the relation ")
        assert said[1:] == ["    4 | (<= (p ?x)", "      | ^^^^^^^^^^"]


@pytest.mark.parametrize("columns", [50, 80, 120])
def test_help_fits_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", columns)
    for name in modules():
        shown = CliRunner().invoke(build(name), [name, "--help"]).output.splitlines()
        assert max(map(len, shown)) <= columns, name
        assert not any("…" in line for line in shown), name
        # Paragraphs are wrapped for this width, not where the source ends its lines.
        begun = [line for line in shown if line.startswith(" ") and "─" not in line]
        assert begun


@pytest.mark.slow
def test_the_name_and_the_time_of_a_kernel_are_told_when_it_is_compiled() -> None:
    code = (
        "import os, tempfile; os.environ['NUMBA_CACHE_DIR'] = tempfile.mkdtemp()\n"
        "from propnet.jit.notice import tell_when_compiling\n"
        "import gc\n"
        "tell_when_compiling(lambda name, s: print(name, s >= 0, gc.isenabled(), sep='|', flush=True))\n"
        "from propnet.jit.decorators import kernel\n"
        "from propnet.jit.random_numbers import streams\n"
        "print('asked'); streams(1); streams(2); print('done')"
    )
    done = python("-c", code)
    kernel = "propnet.jit.random_numbers._fill"
    # Garbage is collected again afterwards.
    assert done.stdout.split() == ["asked", f"{kernel}|False|False", f"{kernel}|True|True", "done"]


def test_defaults_that_are_found_out_are_shown() -> None:
    words = run("solve", "--help").stdout.replace("│", " ").split()
    assert "all that fit" in " ".join(words)
