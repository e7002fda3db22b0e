"""Kernels on disk are compiled again when a file of those that they call changes."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from propnet.jit.decorators import _imported, checksum, kernel
from tests.places import ROOT

INNER = "from numba import njit\n\n@njit\ndef inner(x):\n    return x + {number}\n"
OUTER = """
from propnet.jit.decorators import kernel
from inside import inner

@kernel
def outer(x):
    return inner(x)

print(outer(1), sum(outer.stats.cache_hits.values()))
"""


def run(folder: Path) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import outside", str(folder)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return [int(word) for word in done.stdout.split()]


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(OUTER)
    (tmp_path / "inside.py").write_text(INNER.format(number=1))
    assert run(tmp_path) == [2, 0]
    assert run(tmp_path) == [2, 1]
    (tmp_path / "inside.py").write_text(INNER.format(number=20))
    assert run(tmp_path) == [21, 0]


@pytest.mark.slow
def test_a_kernel_is_compiled_anew_when_one_in_another_folder_has_changed(tmp_path: Path) -> None:
    deep = tmp_path / "house" / "floor" / "room"
    deep.mkdir(parents=True)
    for folder in (deep, *deep.parents[:2]):
        (folder / "__init__.py").write_text("")
    (tmp_path / "outside.py").write_text(OUTER.replace("from inside", "from house.floor.between"))
    (deep.parent / "between.py").write_text("from house.floor.room.inside import (\n    inner,\n)\n")
    (deep / "inside.py").write_text(INNER.format(number=1))
    assert run(tmp_path) == [2, 0]
    assert run(tmp_path) == [2, 1]
    (deep / "inside.py").write_text(INNER.format(number=20))
    assert run(tmp_path) == [21, 0]


def test_the_checksum_is_of_what_a_module_imports_and_of_nothing_else(tmp_path: Path) -> None:
    def sum_now() -> str:
        checksum.cache_clear()
        _imported.cache_clear()
        return checksum(tmp_path / "one.py")

    (tmp_path / "one.py").write_text("import numba\nfrom inside import CONSTANT\n")
    (tmp_path / "inside.py").write_text("CONSTANT = 1\n")
    first = sum_now()
    (tmp_path / "two.py").write_text("import numba\n")
    assert sum_now() == first
    (tmp_path / "inside.py").write_text("CONSTANT = 2\n")
    assert sum_now() != first


def test_what_the_kernels_of_this_house_import_is_followed() -> None:
    root = ROOT
    kernels = [path for path in root.glob("p*/**/*.py") if "@kernel" in path.read_text()]
    assert len(kernels) > 10
    for path in kernels:
        imported = {
            node.module
            for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("propnet", "players"))
        }
        files = {
            ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            for file in _imported(path, (root,))
        }
        assert imported <= files


def test_a_function_that_encloses_values_is_refused() -> None:
    value = 3
    with pytest.raises(ValueError, match="enclose"):
        kernel(lambda x: x + value)
