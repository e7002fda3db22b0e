"""A file of the user that hides one of our packages is named, with what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ggp.program import python


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
