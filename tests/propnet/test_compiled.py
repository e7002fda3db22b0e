"""Kernels on disk are compiled anew when a file of those that they call changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from propnet.compiled import checksum, kernel

INNER = "from numba import njit\n\n@njit\ndef inner(x):\n    return x + {number}\n"
OUTER = """
from propnet.compiled import kernel
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
        cwd=Path(__file__).parents[2],
    )
    return [int(word) for word in done.stdout.split()]


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text(OUTER)
    (tmp_path / "inside.py").write_text(INNER.format(number=1))
    assert run(tmp_path) == [2, 0]
    assert run(tmp_path) == [2, 1]
    (tmp_path / "inside.py").write_text(INNER.format(number=20))
    assert run(tmp_path) == [21, 0]


def test_the_checksum_is_of_files_that_have_to_do_with_numba(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import numba\n")
    first = checksum(tmp_path)
    checksum.cache_clear()
    (tmp_path / "two.py").write_text("print('no kernels')\n")
    assert checksum(tmp_path) == first
    checksum.cache_clear()
    (tmp_path / "one.py").write_text("import numba  # again\n")
    assert checksum(tmp_path) != first
    checksum.cache_clear()


def test_a_function_that_encloses_values_is_refused() -> None:
    value = 3
    with pytest.raises(ValueError, match="enclose"):
        kernel(lambda x: x + value)
