"""The tutorials run as they stand: their files are written, their Python and their commands run, in order.

What answers prompts counts: 1, 2, 3 and so on. A command that serves until Ctrl-C gets one as soon as it has
told its address.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import chain, repeat
from pathlib import Path

import pytest

from tests.places import ROOT

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FILE = re.compile(r"[#;] (\w+\.(?:py|kif))\n")
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
        if language in ("python", "lisp") and (file := FILE.match(text)):
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
