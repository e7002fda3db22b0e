"""What the first minute consists of: what `make play` does, step by step, in a clean clone, nothing cached.

    python -m bench.first_minute              # seconds by the clock and CPU seconds of each step
    python -m bench.first_minute --installed  # with the packages of this Python: no environment is made

It prints how many kernels there are after each step, and the kernels that the game needs by name, with the
seconds that each takes to compile. All lies in a temporary folder, which is removed.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("states", "sokoban-searches", "sokoban-solved")
"""What ``ggp play sokoban`` has compiled; see :func:`players.warm_kernels.match_parts`."""
PROCESSES = 2


class Steps:
    """Runs commands one after the other in a clone, and prints what each takes."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        cache = clone.parent / "cache"
        folders = {"NUMBA_CACHE_DIR": str(cache / "kernels"), "GGP_CACHE": str(cache / "games")}
        for folder in folders.values():
            Path(folder).mkdir(parents=True, mode=0o700)
        self._environment = {**os.environ, **folders, "PYTHONPATH": str(clone), "PIP_NO_CACHE_DIR": "1"}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self._kernels = cache / "kernels"
        self.total = 0.0
        print(f"{'wall s':>7} {'CPU s':>7} {'kernels':>7}")

    def start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        """Start a command whose output is read."""
        return subprocess.Popen(
            command, cwd=self.clone, env=self._environment, stdout=subprocess.PIPE, text=True
        )

    def run(self, name: str, commands: Sequence[Sequence[str]]) -> str:
        """Run commands side by side, print what they take, and return what they print."""
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        running = [self.start(command) for command in commands]
        printed = "".join(process.communicate()[0] for process in running)
        if failed := [process.args for process in running if process.returncode]:
            sys.exit(f"{name}: this has failed: {failed[0]}")
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        kernels = sum(1 for _ in self._kernels.rglob("*.nbc"))
        self.total += wall
        print(f"{wall:7.1f} {cpu:7.1f} {kernels:7}  {name}", flush=True)
        return printed


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--installed", action="store_true", help="use this Python and its packages")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        steps, python = Steps(clone), sys.executable
        if not options.installed:
            steps.run("environment", [["python3", "-m", "venv", ".venv"]])
            python = str(clone / ".venv" / "bin" / "python")
            pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"]
            locks = ["-r", "requirements-build.lock", "-r", "requirements-play.lock"]
            steps.run("packages", [[*pip, "--require-hashes", *locks]])
            steps.run("this program", [[*pip, "--no-deps", "--no-build-isolation", "-e", "."]])
        compiling = [[python, "-m", "ggp.warm", "parts", *PARTS]] * PROCESSES
        told = [json.loads(line) for line in steps.run("kernels", compiling).splitlines()]
        steps.run("ggp play sokoban", [[python, "-m", "ggp", "play", "sokoban"]])
        print(f"{steps.total:7.1f} {'':15}  together\n")
        steps.run("ggp play tictactoe, the first time", [[python, "-m", "ggp", "play", "tictactoe"]])
        steps.run("ggp play tictactoe, the second time", [[python, "-m", "ggp", "play", "tictactoe"]])
        steps.run("ggp --help", [[python, "-m", "ggp", "--help"]])
        print()
        compiled = [line for line in told if "compiled" in line]
        for line in sorted(compiled, key=lambda line: -line["seconds"]):
            print(f"{line['seconds']:7.1f} s  {line['compiled']}")


if __name__ == "__main__":
    main()
