"""What the pages say is so: their Python runs, their commands exist, what they name is there.

The Python blocks of a page run in order and in one namespace, in a folder of their own; a block that begins
with ``# NAME.py`` is a file in that folder, to be imported. A block that imports a large framework runs
alone, where the framework is installed. Calls of ``ggp`` are held against the options that its commands
declare. A diff begins with ``--- FILE``; the lines that it leaves or takes away are lines of that file. A
block of rules that begins with ``; NAME.kif`` is a file that the page writes; a diff of it is a slip, and the
block after it is what ``ggp validate`` says.

The examples in docstrings, the notebooks and the tutorials run as they stand. Of a tutorial the commands run
too: what answers prompts counts 1, 2, 3 and so on; a command that serves until Ctrl-C gets one as soon as it
has told its address.
"""

from __future__ import annotations

import doctest
import functools
import importlib
import json
import os
import pydoc
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from inspect import ismemberdescriptor
from itertools import chain, repeat
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

import ggp
from ggp.cli import build
from ggp.in_code import GamePlayer, PlayedMatch
from players.uct.player import UctPlayer
from tests.places import PACKAGES, ROOT, SOURCES, module_name

PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")), ROOT / "games" / "README.md"]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"# (\w+\.py)\n")
RULES = re.compile(r"; (\w+\.kif)\n")
NAMED = re.compile(r"`([\w.]+)`|^\.\. auto\w+:: ([\w.]+)|>([\w.]+)</text>", re.MULTILINE)
OURS = re.compile(r"(?:gdl|propnet|players|ggp)(?:\.\w+)+")
NEEDED = {
    "adapters.md": ("gymnasium", "pettingzoo", "pyspiel"),
    "training-loops.md": ("gymnasium",),
    "with-a-language-model.md": ("mcp",),
}
"""Packages without which a page's Python does not run: extras that few need."""
LARGE = re.compile(r"^(?:from|import) (sb3_contrib|stable_baselines3|torchrl)\b", re.MULTILINE)
"""Frameworks that bring PyTorch."""


def _blocks(page: Path, language: str) -> Iterator[tuple[int, str]]:
    """The line before each block of a language, and its text."""
    text = page.read_text(encoding="utf-8")
    for block in FENCE.finditer(text):
        if block[1] == language:
            yield text.count("\n", 0, block.start(2)), block[2]


def _with(language: str) -> list[object]:
    """The pages that have such blocks."""
    pages = (page for page in PAGES if any(_blocks(page, language)))
    return [pytest.param(page, id=str(page.relative_to(ROOT))) for page in pages]


@pytest.mark.parametrize("page", _with("python"))
def test_python_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for package in NEEDED.get(page.name, ()):
        pytest.importorskip(package, reason="pip install 'kaskade-ggp[rl]'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    namespace: dict[str, object] = {"__name__": "page"}
    for name, text in _written(page).items():
        (tmp_path / name).write_text(text)
    for line, text in _blocks(page, "python"):
        if LARGE.search(text):
            continue
        if file := FILE.match(text):
            (tmp_path / file[1]).write_text(text)
        else:
            exec(compile("\n" * line + text, str(page), "exec"), namespace)
    shown = capfd.readouterr().out
    assert all(text in shown for _, text in _blocks(page, "text") if text.startswith("draft 1:"))
    for file in tmp_path.glob("*.py"):
        sys.modules.pop(file.stem, None)


def test_files_that_pages_have_readers_write_pass_the_linter(tmp_path: Path) -> None:
    """They move into the packages, where `make lint` looks at them."""
    for page in PAGES:
        for _, text in _blocks(page, "python"):
            if file := FILE.match(text):
                path = tmp_path / page.stem / file[1]
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
    pytest.importorskip("ruff", reason="ruff comes with make test")
    ours = str([*PACKAGES, *sorted({path.stem for path in tmp_path.glob("*/*.py")})])
    options = "--config", str(ROOT / "pyproject.toml"), "--config", f"lint.isort.known-first-party = {ours}"
    command = sys.executable, "-m", "ruff", "check", *options, str(tmp_path)
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("page", "line", "text", "package"),
    [
        pytest.param(page, line, text, large[1], id=f"{page.name}-{large[1]}")
        for page in PAGES
        for line, text in _blocks(page, "python")
        if (large := LARGE.search(text))
    ],
)
def test_python_for_a_large_framework_runs(
    page: Path, line: int, text: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SB3_LOGDIR", str(tmp_path))
    pytest.importorskip(package, reason=f"{package} is not installed: it brings PyTorch")
    exec(compile("\n" * line + text, str(page), "exec"), {"__name__": "page"})


@functools.cache
def _options(command: str) -> set[str]:
    """The options of a command of ``ggp``; where it is an option itself, those of ``ggp``."""
    group = get_command(build(command))
    assert isinstance(group, TyperGroup)
    known = group if command.startswith("-") else group.commands[command]
    return {"-h", "--help"} | {word for each in known.params for word in (*each.opts, *each.secondary_opts)}


@pytest.mark.parametrize("page", _with("sh"))
def test_commands_of_a_page_exist(page: Path) -> None:
    for line, text in _blocks(page, "sh"):
        for call in re.findall(r"^(?:\w+=\S+ )*ggp (.*)$", text, re.MULTILINE):
            command, *words = shlex.split(call, comments=True)
            if "|" in words or ">" in words:
                words = words[: min(words.index(end) for end in "|>" if end in words)]
            known = _options(command)
            for option in (word.partition("=")[0] for word in words if re.match("--?[a-z]", word)):
                assert option in known, f"{page.name}:{line}: ggp {command} has no option {option}"


def _written(page: Path) -> dict[str, str]:
    """The files of rules that a page writes."""
    return {file[1]: text for _, text in _blocks(page, "lisp") if (file := RULES.match(text))}


@pytest.mark.parametrize("page", _with("diff"))
def test_lines_that_a_diff_leaves_are_there(page: Path) -> None:
    written = _written(page)
    for line, text in _blocks(page, "diff"):
        head, *rest = text.splitlines()
        name = head.removeprefix("--- ")
        there = (written[name] if name in written else (ROOT / name).read_text()).splitlines()
        for context in (row[1:] for row in rest if row.startswith((" ", "-"))):
            assert context in there, f"{page.name}:{line}: {head} has no line {context!r}"


SLIP = re.compile(r"^```diff\n--- (\w+\.kif)\n(.*?)^```\n\n```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
GAME = ROOT / "docs" / "tutorials" / "first-game.md"
DICE = ROOT / "docs" / "tutorials" / "first-dice-game.md"


@pytest.fixture
def validate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], list[str]]:
    """The lines that ``ggp validate`` prints of a file with this name and this text."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(name: str, text: str) -> list[str]:
        Path(name).write_text(text, encoding="utf-8")
        return CliRunner().invoke(build("validate"), ["validate", name]).stdout.splitlines()

    return run


@pytest.mark.parametrize("page", [GAME, DICE], ids=lambda page: page.stem)
def test_validate_finds_nothing_in_games_of_tutorials(
    page: Path, validate: Callable[[str, str], list[str]]
) -> None:
    ((name, text),) = _written(page).items()
    assert validate(name, text)[0].startswith("1 file, 0 errors, 0 warnings")


@pytest.mark.parametrize(
    "slip", SLIP.findall(GAME.read_text()), ids=lambda slip: slip[2].split("[")[1].split("]")[0]
)
def test_validate_says_to_each_slip_what_the_page_says(
    slip: tuple[str, str, str], validate: Callable[[str, str], list[str]]
) -> None:
    name, change, told = slip
    rows = change.splitlines(keepends=True)
    before, after = ("".join(row[1:] for row in rows if row[0] in (" ", sign)) for sign in "-+")
    rules = _written(GAME)[name]
    assert rules.count(before) >= 1
    found = validate(name, rules.replace(before, after, 1))
    assert set(told.splitlines()) <= set(found), found


def test_the_first_game_has_five_slips() -> None:
    assert len(SLIP.findall(GAME.read_text())) == 5


def test_rules_that_readme_and_the_landing_page_show_are_those_of_tictactoe() -> None:
    rules = (ROOT / "games" / "tictactoe.kif").read_text()
    shown = re.findall(r"^    \(<=.*?(?=\n\n)", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    blocks = [re.sub("^    ", "", block, flags=re.MULTILINE) for block in shown]
    blocks += [text for _, text in _blocks(ROOT / "docs" / "index.md", "lisp")]
    assert len(blocks) == 2
    for block in blocks:
        for rule in re.split(r"\n(?=\()", block.strip()):
            assert rule in rules, rule


@pytest.mark.parametrize(
    "page", [*PAGES, *(ROOT / "docs").rglob("*.svg")], ids=lambda page: str(page.relative_to(ROOT))
)
def test_names_of_our_code_on_a_page_are_there(page: Path) -> None:
    spans = NAMED.findall(page.read_text(encoding="utf-8"))
    for name in filter(OURS.fullmatch, (name for span in spans for name in span)):
        assert pydoc.locate(name) is not None, f"{page.name} names {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_links_to_are_there(page: Path) -> None:
    for link in re.findall(r"\]\((?!https?:)([^)#]+)", FENCE.sub("", page.read_text(encoding="utf-8"))):
        assert (page.parent / link).exists(), f"{page.name} links to {link}"


def test_every_folder_is_on_the_map() -> None:
    links = (ROOT / "docs" / "architecture.md").read_text()
    for package in ("gdl", "propnet", "players", "ggp"):
        for folder in (path.parent.relative_to(ROOT) for path in (ROOT / package).rglob("__init__.py")):
            assert f"(../{folder}/__init__.py)" in links, f"docs/architecture.md has no line for {folder}"


def test_the_options_of_uct_are_those_that_it_declares() -> None:
    page = (ROOT / "docs" / "running.md").read_text()
    lines = []
    for option in UctPlayer.OPTIONS:
        spelled = "yes" if option.default is True else option.default
        default = "" if option.default is None else f" [default: {spelled}]"
        lines.append(f"{option.name:11}  {option.help}{default}")
    assert "```text\n" + "\n".join(lines) + "\n```" in page


# --- The examples in docstrings do what they show
EXAMPLE = re.compile(r"^ *>>> ", re.MULTILINE)


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if EXAMPLE.search(path.read_text())],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_examples_give_what_they_show(path: Path) -> None:
    found = doctest.testmod(importlib.import_module(module_name(path)), optionflags=doctest.ELLIPSIS)
    assert found.attempted >= len(
        EXAMPLE.findall(path.read_text(encoding="utf-8"))
    )  # ggp.load is Game.load: twice
    assert not found.failed


@pytest.mark.parametrize("name", sorted({*ggp.__all__} - {"__version__"}))
def test_names_that_a_program_begins_with_have_an_example(name: str) -> None:
    shown = getattr(ggp, name)
    module = importlib.import_module(shown.__module__)
    lines = re.findall(
        r"^ *(?:>>>|\.\.\.) (.*)", Path(str(module.__file__)).read_text(encoding="utf-8"), re.MULTILINE
    )
    assert any(re.search(rf"\b{name}\b", line) for line in lines) or ">>>" in (shown.__doc__ or "")


@pytest.mark.parametrize("kind", [ggp.Game, ggp.State, GamePlayer, PlayedMatch])
def test_each_call_of_a_guest_is_in_an_example(kind: type) -> None:
    text = Path(str(importlib.import_module(kind.__module__).__file__)).read_text(encoding="utf-8")
    shown = "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) (.*)", text, re.MULTILINE))
    calls = [n for n, one in vars(kind).items() if not n.startswith("_") and not ismemberdescriptor(one)]
    assert [name for name in calls if not re.search(rf"\.{name}\b", shown)] == []


# --- The notebooks of the docs run as they stand, cell after cell
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_of_a_notebook_runs(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for package in ("matplotlib", "gymnasium"):
        pytest.importorskip(package, reason="pip install 'kaskade-ggp[rl]' matplotlib")
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, object] = {"__name__": "notebook"}
    for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), f"{path.name}, cell {number}", "exec"), names)
    shown = capsys.readouterr().out
    assert "million states" in shown or "won at last" in shown or "at last" in shown


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_what_it_shows(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]


# --- The tutorials run as they stand: their files are written, their Python and their commands run, in order
WRITTEN = re.compile(r"[#;] (\w+\.(?:py|kif))\n")
TUTORIALS = [
    path for path in sorted((ROOT / "docs" / "tutorials").glob("*.md")) if "```sh" in path.read_text()
]
SECONDS = 400.0
"""For the commands of one block."""
ACT = r"""
set -em -o pipefail
ggp() {
  case " $* " in
    " web "*|" serve "*|*" --web "*)
      command ggp "$@" > served 2>&1 &
      local server=$!
      until grep -qE 'http://|port' served; do kill -0 $server; sleep 0.1; done
      kill -INT -- -$server  # its process group
      local status=0
      wait $server || status=$?
      test $status -eq 0 -o $status -eq 130 ;;
    *) command ggp "$@" ;;
  esac
}
"""


def commands(text: str, folder: Path) -> None:
    """Run a block of commands, and say what went wrong."""
    (folder / "answers").write_text("\n".join(map(str, chain.from_iterable(repeat(range(1, 100), 50)))))
    paths = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    with (folder / "answers").open() as answers:
        done = subprocess.run(
            ["bash", "-c", ACT + text],
            cwd=folder,
            env={**os.environ, "PATH": paths, "PYTHONPATH": str(ROOT)},
            stdin=answers,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
        )
    assert done.returncode == 0, f"{text}\n{done.stdout[-3000:]}"
    assert "Traceback" not in done.stdout, done.stdout[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_runs_from_its_first_line_to_its_last(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "games").symlink_to(ROOT / "games")
    activate = tmp_path / ".venv" / "bin" / "activate"
    activate.parent.mkdir(parents=True)
    activate.touch()  # the program that is tested is first in PATH already
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    namespace: dict[str, object] = {"__name__": "page"}
    for language, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if language in ("python", "lisp") and (file := WRITTEN.match(text)):
            (tmp_path / file[1]).write_text(text)
        elif language == "python":
            exec(compile(text, str(page), "exec"), namespace)
        elif language == "sh":
            commands(text, tmp_path)
    for written in tmp_path.glob("*.py"):
        sys.modules.pop(written.stem, None)


def test_all_tutorials_with_commands_are_run() -> None:
    assert {"five-minute-tour", "first-game", "first-dice-game", "first-player"} <= {
        p.stem for p in TUTORIALS
    }
