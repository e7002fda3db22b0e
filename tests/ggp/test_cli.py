"""The command line as a whole: help, wrong use, poor systems, exit status, and what it costs to ask."""

from __future__ import annotations

import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from gdl.writing import replace_file
from ggp.cli import build, main, modules
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


# --- Wrong words on the command line get one line in our words, whichever command they are for
def _numbers() -> Iterator[tuple[str, str]]:
    """Each option of a command that is a number."""
    for name, (_, plugin) in modules().items():
        command: Any = plugin.load()
        for option, hint in get_type_hints(command).items():
            if option in inspect.signature(command).parameters and {int, float} & {hint, *get_args(hint)}:
                yield name, option


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    """What ``ggp`` prints to stderr for these words; it ends with status 2."""

    def say(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["ggp", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        assert (ended.value.code, told.out) == (2, "")
        return told.err

    return say


@pytest.mark.parametrize(("command", "option"), sorted(_numbers()))
def test_numbers_are_finite_and_in_bounds(command: str, option: str, said: Any) -> None:
    known = next(c for c in _parameters(command) if c.name == option)
    word = max(known.opts, key=len)
    for value in ("nan", "inf", "-inf", "1e300", "-1e300", str(10**40), "", "x", "1" * 5000):
        line = said(command, f"{word}={value}")
        assert line.startswith(f"ggp: {word} must be a ") and " from " in line and line.count("\n") == 1
        assert len(line) < 200
    if option in ("workers", "processes", "jobs"):
        assert "must be a whole number" in said(command, word, str(10**9))


def _parameters(command: str) -> list[Any]:
    import typer.main

    return typer.main.get_command(build(command)).commands[command].params  # type: ignore[attr-defined, no-any-return]


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
def test_wrong_use_is_answered_with_a_readable_line_and_status_2(
    arguments: list[str], says: str, said: Any
) -> None:
    assert says in " ".join(said(*arguments).split())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("host", "GAME is missing (see `ggp host --help`)"),
        ("host tictactoe", "--players is missing (see `ggp host --help`)"),
        (
            "host tictactoe -p a,b --clock 5,2.5",
            "--clock must be a whole number of seconds from 1 to 86400, or two, not '5,2.5'"
            " (write 5, or 10,5 with 10 seconds before the first move)",
        ),
        ("play tictactoe --clock", "--clock needs a value (see `ggp play --help`)"),
        ("play tictactoe --json=1", "--json takes no value (see `ggp play --help`)"),
        ("play tictactoe one two", "more words than arguments: one two (see `ggp play --help`)"),
        ("play tictactoe --nothing", "there is no option --nothing (see `ggp play --help`)"),
        ("plya", "there is no command 'plya' (did you mean play?)"),
        ("x\x1b[31m", "there is no command 'x\\x1b[31m' (see `ggp --help`)"),
        ("--nothing", "there is no option --nothing (see `ggp --help`)"),
    ],
)
def test_wrong_use_is_said_in_our_words(words: str, line: str, said: Any) -> None:
    assert said(*words.split(" ")) == f"ggp: {line}\n"


# --- A file of the user that hides one of our packages is named, with what to do about it
@pytest.mark.parametrize("package", ["gdl", "propnet", "players"])
@pytest.mark.parametrize("kind", ["file", "folder", "script"])
def test_a_file_that_hides_a_package_is_named(package: str, kind: str, tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    hides = tmp_path / f"{package}.py"
    if kind == "script":
        script = hides
    elif kind == "file":
        hides.write_text("")
    else:
        hides = tmp_path / package
        hides.mkdir()
        (hides / "__init__.py").write_text("")
    script.write_text("import ggp\nprint(ggp.load('tictactoe'))\n")
    run = python(script)
    what = "folder" if kind == "folder" else "file"
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] == (
        f"ImportError: {hides} hides the package {package!r} that ggp needs: rename the {what}"
    )


def test_other_files_beside_a_script_hide_nothing(tmp_path: Path) -> None:
    for name in ("player.py", "games.py"):
        (tmp_path / name).write_text("")
    script = tmp_path / "mine.py"
    script.write_text("import players\nimport ggp\nprint(ggp.load('tictactoe'))\n")
    run = python(script)
    assert (run.returncode, run.stderr) == (0, "")


# --- Commands where the system gives little: an ASCII locale, closed streams, no threads, a full disk
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "COLUMNS": "120"}
COMMANDS = [
    "--help",
    "play --help",
    "games",
    "games --json",
    "play {game} -p random,random --max-steps 1",
    "play {game} -p random,random --max-steps 1 --json",
    "play {game} -p human,random",
    "validate {game}",
    "validate -",
    "format {game}",
    "format -",
    "ground {game}",
    "ground {game} --stats",
    "scramble {game}",
    "playthrough {game}",
    "host {game} -p random,random",
    "verify nothing-there",
    "solve {game}",
    "cover {game}",
    "rules {game}",
    "explore {game}",
    "tabulate {game}",
    "lookup {game} nothing-there",
    "knowledge",
    "tournament {game} -p random,legal -d {folder}/t.sqlite --no-play",
    "serve --log-level nonsense",
    "web --records nothing-there",
    "cluster nonsense x",
    "bench nothing-there",
    "train nothing-there",
    "mcp",
]
RULES = """; Ein schönes Spiel: ♞
(role Weiß) (role ♞) (init (p 1)) (legal ?r é) (<= (legal ?r ♞) (role ?r))
(<= (next (p 2)) (true (p 1))) (<= terminal (true (p 2))) (<= (goal ?r 50) (role ?r))
""".replace("(legal ?r é)", "(<= (legal ?r é) (role ?r))")


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_fails_in_an_ascii_locale_without_standard_input(command: str, tmp_path: Path) -> None:
    game = tmp_path / "spiel.kif"
    game.write_text(RULES, encoding="utf-8")
    words = command.format(game=game, folder=tmp_path).split()
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", sys.executable, "-m", "ggp", *words],
        capture_output=True,
        cwd=ROOT,
        env=os.environ | ASCII,
        timeout=300,
    )
    said = (done.stdout + done.stderr).decode("utf-8")
    assert "Traceback" not in said and "Error:" not in said, said
    assert done.returncode in (0, 1, 2), said
    if "human" in command or command.endswith(" -"):
        assert "ggp: standard input is closed (" in said


@pytest.mark.parametrize("descriptor", [1, 2])
def test_closed_output_goes_nowhere(descriptor: int, tmp_path: Path) -> None:
    shell = f'exec "$@" {descriptor}>&-'
    validate = "-m", "ggp", "validate", "games/tictactoe.kif", "--json"
    words = "sh", "-c", shell, "sh", sys.executable, *validate
    done = subprocess.run(words, capture_output=True, cwd=ROOT, timeout=300)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", ["serve --port 0", "web --port 0", "play tictactoe -p random,random"])
def test_a_system_without_threads_is_said_on_one_line(words: str) -> None:
    code = (
        "import sys, threading\n"
        'def start(self): raise RuntimeError("can\'t start new thread")\n'
        "threading.Thread.start = start\n"
        f"sys.argv = ['ggp', *{words.split()!r}]\n"
        "from ggp.cli import main; main()"
    )
    done = python("-c", code)
    if words.startswith("play") and not done.returncode:
        pytest.skip("nothing is left to compile, which takes a thread")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("ggp: there are no more processes or threads to be had")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.NamedTemporaryFile", lambda **_: open("/dev/full", "wb"))  # noqa: SIM115
    monkeypatch.setattr(os, "unlink", lambda _: None)
    with pytest.raises(OSError, match="No space left") as full:
        replace_file(tmp_path / "manifest", b"x" * (1 << 20))
    assert full.value.filename == str(tmp_path / "manifest")
