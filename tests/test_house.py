"""The house is as it is said to be: what strings name is there, folders and files can be read."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import get_type_hints

import pytest
from typer.models import OptionInfo

import ggp.adapters
from ggp.adapters.adapted_game import MissingPackageError
from ggp.cli import modules
from tests.places import PACKAGES, ROOT, SOURCES, module_name

FOLDERS = sorted({path.parent for path in SOURCES})
MOST_LINES = 800
MOST_MODULES = 15
MOST_OPTIONS = 125
"""Of all commands together, as `ggp COMMAND --help` lists them."""
NAME = re.compile(rf"({'|'.join(PACKAGES)})(\.[a-z_]\w*)+(:[A-Za-z_]\w*)?")


@dataclass(frozen=True)
class Source:
    """A file: how many lines it has, its docstring, and what the tests below ask of its tree."""

    lines: int
    docstring: str | None
    classes: list[tuple[str, int]]
    """The name of each class, and its line."""
    calls: list[tuple[str, ast.Call]]
    """Each call, after what it calls (as in ``os.open``)."""
    imports: list[ast.ImportFrom]
    strings: list[tuple[str, ast.Constant]]


@functools.cache
def source(path: Path) -> Source:
    """What a file holds. Each is parsed and walked once."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    found = Source(len(text.splitlines()), ast.get_docstring(tree), [], [], [], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            found.calls.append((name_of(node.func), node))
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str):
                found.strings.append((node.value, node))
        elif isinstance(node, ast.ClassDef):
            found.classes.append((node.name, node.lineno))
        elif isinstance(node, ast.ImportFrom):
            found.imports.append(node)
    return found


def name_of(node: ast.expr) -> str:
    """An expression as it is written; names with dots quickly."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}"
    return ast.unparse(node)


def test_every_module_can_be_imported() -> None:
    """Without frameworks that not everybody has, modules for them cannot be."""
    missing = []
    for path in SOURCES:
        if path.name != "__main__.py":
            try:
                importlib.import_module(module_name(path))
            except MissingPackageError:
                continue
            except ModuleNotFoundError as error:
                missing.append(str(error.name))
    assert not [name for name in missing if name.partition(".")[0] in PACKAGES]


def _names_in_strings(path: Path) -> Iterator[tuple[int, str]]:
    """The names of modules in a file's strings; not those of loggers, which are names of topics."""
    calls = source(path).calls
    loggers = {id(word) for name, call in calls if name.endswith("getLogger") for word in call.args}
    for text, node in source(path).strings:
        if NAME.fullmatch(text) and id(node) not in loggers:
            yield node.lineno, text


def test_modules_that_strings_name_are_there() -> None:
    named = [
        (f"{path}:{line} names {text}", text) for path in SOURCES for line, text in _names_in_strings(path)
    ]
    for fault, text in named:
        module, _, attribute = text.partition(":")
        spec = importlib.util.find_spec(module)
        assert spec is not None and spec.origin, fault
        if attribute:
            assert hasattr(importlib.import_module(module), attribute), fault
    assert "ggp.answers.answer_process" in {text for _, text in named}


BESIDE = [path for folder in ("bench", "docs", ".ci") for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", BESIDE, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_imported_by_what_types_are_not_checked_of_is_there(path: Path) -> None:
    """The functions of benches import when they are called, so a name that has moved is missed until then."""
    for node in source(path).imports:
        if not (node.module and node.module.split(".")[0] in PACKAGES):
            continue
        module = importlib.import_module(node.module)
        for name in (alias.name for alias in node.names):
            there = hasattr(module, name) or importlib.util.find_spec(f"{node.module}.{name}") is not None
            assert there, f"line {node.lineno}: {node.module} has no {name}"


def test_modules_are_short() -> None:
    assert not [path for path in SOURCES if source(path).lines > MOST_LINES]


def test_commands_have_few_options() -> None:
    options = 0
    for _, plugin in modules().values():
        command = plugin.load()
        hints = get_type_hints(command, include_extras=True)
        for parameter in inspect.signature(command).parameters.values():
            infos = parameter.default, *getattr(hints[parameter.name], "__metadata__", ())
            options += any(isinstance(info, OptionInfo) for info in infos)
    assert options <= MOST_OPTIONS


def test_folders_are_small_and_say_what_they_are_for() -> None:
    for folder in FOLDERS:
        modules = [path for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__")]
        assert len(modules) <= MOST_MODULES, folder
        assert source(folder / "__init__.py").docstring, folder


def test_no_class_has_the_name_of_another() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in SOURCES:
        for name, line in source(path).classes:
            if not name.startswith("_"):
                homes[name].append(f"{path.relative_to(ROOT)}:{line}")
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not twice


READ_THEIR_OWN = {
    "gdl/reading.py": "reads for all others",
    "gdl/writing.py": "opens to flush",
    "gdl/grounding/limits.py": "/proc",
    "propnet/jit/parts.py": "/proc",
    "players/processes/lifeline.py": "its own pipe, /proc",
    "players/plugins.py": "a file of the checkout",
    "players/puzzles/frontier/budget.py": "/proc",
    "ggp/processes/budget.py": "the limit of the group, /sys",
    "propnet/jit/decorators.py": "the source of kernels",
    "propnet/storage/network_bytes.py": "bytes of propnet.private_files, and of other processes",
    "players/puzzles/sokoban/deadlocks/patterns.py": "a table of the package",
    "ggp/report_page.py": "files of the package",
    "ggp/cover/drawings.py": "files of the package",
    "ggp/boards/svg/markup.py": "a file of the package",
}
"""Modules that read files which nobody else can name, and what these are."""
READERS = {"read_text", "read_bytes", "fromfile", "loadtxt", "genfromtxt", "memmap"}
MODULES_THAT_READ = {"gzip.open", "bz2.open", "lzma.open", "np.load", "zipfile.ZipFile", "tarfile.open"}
MODES = re.compile(r"r[bt+]*|[rbt]*\+[rbt]*")


def _reads(path: Path) -> Iterator[int]:
    """The lines on which a module opens a file for reading, or reads one."""
    for name, call in source(path).calls:
        # A method called `open` opens a file where its first argument is a mode, or its object is a path.
        mode = call.args[name == "open" : (name == "open") + 1]
        words = mode[0].value if mode and isinstance(mode[0], ast.Constant) else None
        opens = name == "open" or name.endswith((").open", "path.open"))
        if (
            name in MODULES_THAT_READ
            or name.rpartition(".")[2] in READERS
            or (opens and not mode)
            or (name == "os.open" and "O_RDONLY" in ast.unparse(call))
            or (name.endswith("open") and isinstance(words, str) and MODES.fullmatch(words))
        ):
            yield call.lineno


def test_files_that_others_name_are_read_by_one_reader() -> None:
    """That is :mod:`gdl.reading`: no device, no pipe, no more bytes than are of use."""
    others = [path for path in SOURCES if str(path.relative_to(ROOT)) not in READ_THEIR_OWN]
    assert not [f"{path}:{line}" for path in others for line in _reads(path)]


def test_the_modules_that_read_their_own_files_still_do() -> None:
    idle = [name for name in READ_THEIR_OWN if name != "gdl/reading.py" and not list(_reads(ROOT / name))]
    assert not idle


SPLIT_THEIR_OWN = {
    "propnet/jit/parts.py": "/proc",
    "players/processes/lifeline.py": "/proc",
    "players/kaskade/builder.py": "what its process printed",
    "players/fleet/ray_fleet.py": "errors",
    "ggp/answers/catalogue.py": "bytes, which know three line ends",
    "ggp/warm.py": "what its process printed",
    "ggp/cover/instance.py": "what it has drawn",
}
"""Modules that may split at all that Unicode takes for a line end -> what of."""


def test_texts_have_one_encoding_and_one_kind_of_line_end() -> None:
    """Those of :mod:`gdl.reading`: places in a text count LF, CR LF and CR, and no form feed."""
    for path in SOURCES:
        name = str(path.relative_to(ROOT))
        splits = any(called.endswith(".splitlines") for called, _ in source(path).calls)
        assert splits == (name in SPLIT_THEIR_OWN), name
        marked = any(text in ("utf-8-sig", "utf-16") for text, _ in source(path).strings)
        assert marked == (name in ("gdl/reading.py", "ggp/traces.py")), name


def test_there_is_one_kind_of_console() -> None:
    """Names that look like markup are printed as they are; spinners and titles of panels read markup whatever
    the console says."""
    plain = "Console", "TextColumn", "Text.from_markup", "Prompt.ask", "Confirm.ask"
    for path in (ROOT / "ggp").rglob("*.py"):
        if path == ROOT / "ggp" / "console.py":
            continue
        for name, call in source(path).calls:
            assert name not in plain, path
            if name == "Spinner":
                texts = call.args[1:]
                assert all(isinstance(text, ast.Name | ast.Call) for text in texts), f"{path}:{call.lineno}"
            if name in ("Panel", "Panel.fit"):
                titles = [
                    ast.unparse(word.value) for word in call.keywords if word.arg in ("title", "subtitle")
                ]
                assert all("name" not in title for title in titles), f"{path}:{call.lineno}"


def test_no_text_is_read_or_written_in_the_encoding_of_the_locale() -> None:
    """ruff sees (PLW1514) only calls on objects whose type it can infer."""
    for path in SOURCES:
        for name, call in source(path).calls:
            binary = any(isinstance(word, ast.Constant) and "b" in str(word.value) for word in call.args[1:2])
            if name.rpartition(".")[2] in ("read_text", "write_text", "fdopen") and not binary:
                named = "encoding" in {word.arg for word in call.keywords}
                assert named or (name.endswith("read_text") and call.args), f"{path}:{call.lineno}"


def test_one_module_asks_others_over_http() -> None:
    """It follows no redirects, unpacks nothing, and bounds what comes."""
    clients = {"ClientSession", "urlopen", "HTTPConnection", "HTTPSConnection"}
    asking = [
        str(path.relative_to(ROOT))
        for path in SOURCES
        if clients & {name.rpartition(".")[2] for name, _ in source(path).calls}
    ]
    assert asking == ["ggp/protocol/asking.py"]


def test_all_that_commands_print_goes_through_one_function() -> None:
    """Others would pass on what drives a terminal, or fail where the locale lacks a character."""
    others = {
        "print",
        "typer.echo",
        "typer.secho",
        "click.echo",
        "sys.stderr.write",
        "sys.stdout.buffer.write",
    }
    allowed = {
        "ggp/printing.py": "prints for all others",
        "ggp/commands/rules/format.py": "the bytes of files as they are, outside terminals",
    }
    for path in (ROOT / "ggp").rglob("*.py"):
        name = str(path.relative_to(ROOT))
        used = others & {called for called, _ in source(path).calls}
        assert bool(used) == (name in allowed), f"{name}: {used}"


PASSED_ON = {
    "table_process.py",
    "gate.py",
    "watched.py",
    "recorded.py",
    "replay_process.py",
    "table.py",
    "connections.py",
}
"""Modules of the server's and the page's that hand their errors to another module, or log them."""


def test_errors_become_answers_that_name_no_folders() -> None:
    """What the page, the API and the tools answer never says where files of the server lie."""
    folders = ROOT / "ggp" / "web", ROOT / "ggp" / "server" / "clients"
    for path in (
        ROOT / "ggp" / "answers" / "mcp_tools.py",
        *(path for folder in folders for path in folder.rglob("*.py")),
    ):
        calls = source(path).calls
        bare = {id(call) for name, call in calls if name == "str" and ast.unparse(call) == "str(error)"}
        bare -= {id(call.args[0]) for name, call in calls if name == "without_folders"}
        assert not bare or path.name in PASSED_ON, path


# --- Modules that load their names when they are first used show these names, and no others
def functions(path: Path) -> set[str]:
    return {
        node.name
        for node in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef)
    }


LAZY = [path for path in SOURCES if path.name == "__init__.py" and "__getattr__" in functions(path)]


def test_some_modules_are_lazy() -> None:
    assert {"ggp", "gdl", "ggp.adapters"} <= set(map(module_name, LAZY))


@pytest.mark.parametrize("path", LAZY, ids=module_name)
def test_a_lazy_module_shows_what_there_is_to_use_and_nothing_else(path: Path) -> None:
    module = importlib.import_module(module_name(path))
    names = dir(module)
    assert "__dir__" in functions(path)
    assert names == sorted(getattr(module, "__all__", names))
    assert all(hasattr(module, name) for name in names)


def test_help_shows_the_names_of_ggp() -> None:
    code = "import pydoc, ggp; print(pydoc.plain(pydoc.render_doc(ggp)))"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout
    assert all(f"    class {name}(" in shown for name in ("Choice", "Game", "Machine", "Player", "State"))
    assert "    load(source" in shown and "import_module" not in shown


@pytest.mark.parametrize("absent", ["pettingzoo", "pyspiel", "stable_baselines3"])
def test_a_star_brings_what_is_installed(absent: str) -> None:
    pytest.importorskip("gymnasium", reason="pip install 'kaskade-ggp[rl]'")
    code = f"import sys; sys.modules[{absent!r}] = None; from ggp.adapters import *; print(*dir())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not done.stderr
    gone = {
        "pettingzoo": {"GdlAEC", "GdlParallel"},
        "pyspiel": {"load_gdl"},
        "stable_baselines3": {"GdlVecEnv", "make_sb3_vec"},
    }[absent]
    brought = {name for name in done.stdout.split() if not name.startswith("_")} - {"sys"}
    assert brought == set(ggp.adapters.__all__) - gone
