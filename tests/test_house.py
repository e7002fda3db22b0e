"""The house is as it is said to be: what strings name is there, folders and files can be read."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.places import ROOT

PACKAGES = "gdl", "propnet", "players", "ggp"
FILES = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
FOLDERS = sorted({path.parent for path in FILES})
MOST_LINES = 400
MOST_MODULES = 15
NAME = re.compile(rf"({'|'.join(PACKAGES)})(\.[a-z_]\w*)+(:[A-Za-z_]\w*)?")


def _names_in_strings(path: Path) -> Iterator[tuple[int, str]]:
    """The names of modules in a file's strings; not those of loggers, which are names of topics."""
    tree = ast.parse(path.read_text())
    loggers = {
        id(argument)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("getLogger")
        for argument in call.args
    }
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and NAME.fullmatch(text) and id(node) not in loggers:
            yield node.lineno, text


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_that_strings_name_are_there(path: Path) -> None:
    for line, text in _names_in_strings(path):
        module, _, attribute = text.partition(":")
        spec = importlib.util.find_spec(module)
        assert spec is not None and spec.origin, f"{path}:{line} names {text}"
        if attribute:
            assert hasattr(importlib.import_module(module), attribute), f"{path}:{line} names {text}"


BESIDE = [path for folder in ("bench", "docs", ".ci") for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("path", BESIDE, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_imported_by_what_types_are_not_checked_of_is_there(path: Path) -> None:
    """The functions of benches import when they are called, so a name that has moved is missed until then."""
    for node in ast.walk(ast.parse(path.read_text())):
        if not (isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] in PACKAGES):
            continue
        module = importlib.import_module(node.module)
        for name in (alias.name for alias in node.names):
            there = hasattr(module, name) or importlib.util.find_spec(f"{node.module}.{name}") is not None
            assert there, f"line {node.lineno}: {node.module} has no {name}"


def test_names_in_strings_are_looked_at() -> None:
    assert {text for path in FILES for _, text in _names_in_strings(path)} >= {"ggp.answers.answer_process"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_are_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_folders_are_small_and_say_what_they_are_for(folder: Path) -> None:
    modules = [path for path in folder.glob("*.py") if path.stem not in ("__init__", "__main__")]
    assert len(modules) <= MOST_MODULES
    assert ast.get_docstring(ast.parse((folder / "__init__.py").read_text()))


def test_no_class_has_the_name_of_another() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(f"{path.relative_to(ROOT)}:{node.lineno}")
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    assert not twice


READ_THEIR_OWN = {
    "gdl/reading.py": "reads for all others",
    "gdl/writing.py": "opens to flush",
    "gdl/grounding/limits.py": "/proc",
    "players/processes/compiled_parts.py": "/proc",
    "players/processes/launch.py": "/proc",
    "players/processes/lifeline.py": "its own pipe, /proc",
    "players/puzzles/frontier/budget.py": "/proc",
    "ggp/processes/budget.py": "the limit of the group, /sys",
    "ggp/traces/verify.py": "/proc",
    "propnet/jit/decorators.py": "the source of kernels",
    "propnet/native/object_cache.py": "bytes of propnet.private_files",
    "players/puzzles/sokoban/deadlocks/pattern_solver.py": "a table of the package",
    "ggp/web/replay/replay_process.py": "files of the package",
    "ggp/cover/drawings.py": "files of the package",
    "ggp/boards/svg/markup.py": "a file of the package",
}
"""Modules that read files which nobody else can name, and what these are."""
READERS = {"read_text", "read_bytes", "fromfile", "loadtxt", "genfromtxt", "memmap"}
MODULES_THAT_READ = {"gzip.open", "bz2.open", "lzma.open", "np.load", "zipfile.ZipFile", "tarfile.open"}
MODES = re.compile(r"r[bt+]*|[rbt]*\+[rbt]*")


def _reads(path: Path) -> Iterator[int]:
    """The lines on which a module opens a file for reading, or reads one."""
    for call in ast.walk(ast.parse(path.read_text())):
        if not isinstance(call, ast.Call):
            continue
        name = ast.unparse(call.func)
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
    others = [path for path in FILES if str(path.relative_to(ROOT)) not in READ_THEIR_OWN]
    assert not [f"{path}:{line}" for path in others for line in _reads(path)]


def test_the_modules_that_read_their_own_files_still_do() -> None:
    idle = [name for name in READ_THEIR_OWN if name != "gdl/reading.py" and not list(_reads(ROOT / name))]
    assert not idle
