"""What the first minute consists of: what `make play` does, step by step, in a clean clone, nothing cached.

    python -m bench.first_minute              # seconds by the clock and CPU seconds of each step
    python -m bench.first_minute --installed  # with the packages of this Python: no environment is made
    python -m bench.first_minute --one        # one process compiles, so that what a kernel takes is its own

It follows the Makefile: packages that kernels need, the kernels beside the other packages, the game. It
prints how many kernels there are after each step, when the first move was seen, and what each kernel takes
to compile. All lies in a temporary folder, which is removed.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from bench.scripts import command_line

ROOT = Path(__file__).resolve().parents[1]
PROCESSES = 2


def makefile_list(name: str) -> list[str]:
    """What a variable of the Makefile lists."""
    found = re.search(rf"^{name} := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert found is not None, f"the Makefile has no {name}"
    return re.split(r"[| ]", found[1].strip())


def locked(names: Sequence[str], text: str) -> str:
    """The lines of a lock file that are about these packages."""
    blocks = re.findall(r"^[^ #\n][^\n]*\n(?:[ ][^\n]*\n)*", text, re.MULTILINE)
    return "".join(block for block in blocks if block.partition("==")[0] in names)


class Steps:
    """Runs commands in a clone, and prints what each step takes."""

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

    def run(self, name: str, *commands: Sequence[str], watch: str = "") -> str:
        """Run commands side by side, print what they take, and return what they print. ``watch``: it is also
        told when the first line that begins so was printed."""
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        running = [
            subprocess.Popen(
                command, cwd=self.clone, env=self._environment, stdout=subprocess.PIPE, text=True
            )
            for command in commands
        ]
        printed, seen = "", None
        for process in running:
            assert process.stdout is not None
            for line in process.stdout:
                printed += line
                if watch and seen is None and line.startswith(watch):
                    seen = self.total + time.monotonic() - began
        if failed := [process.args for process in running if process.wait()]:
            sys.exit(f"{name}: this has failed: {failed[0]}")
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        kernels = sum(1 for _ in self._kernels.rglob("*.nbc"))
        self.total += wall
        moved = f": the first move {seen:.1f} s after the beginning" if seen is not None else ""
        print(f"{wall:7.1f} {cpu:7.1f} {kernels:7}  {name}{moved}", flush=True)
        return printed


def main() -> None:
    """Measure, and print."""
    parser = command_line(__doc__)
    parser.add_argument("--installed", action="store_true", help="use this Python and its packages")
    parser.add_argument("--one", action="store_true", help="compile in one process")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        steps, python = Steps(clone), sys.executable
        others: list[list[str]] = []
        if not options.installed:
            steps.run("environment", ["python3", "-m", "venv", ".venv"])
            python = str(clone / ".venv" / "bin" / "python")
            pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile"]
            pip.append("--no-deps")
            first = clone / ".venv" / "compilers.lock"
            first.write_text(
                locked(makefile_list("COMPILERS"), (clone / "requirements-play.lock").read_text())
            )
            steps.run("packages for kernels", [*pip, "--require-hashes", "-r", str(first)])
            locks = ["-r", "requirements-build.lock", "-r", "requirements-play.lock"]
            packages = " ".join([*pip, "--require-hashes", *locks])
            program = " ".join([*pip, "--no-build-isolation", "-e", "."])
            others = [["sh", "-c", f"{packages} && {program}"]]
        compiling = [[python, "-m", "ggp.warm", "parts", *makefile_list("FIRST_PARTS")]]
        compiling *= 1 if options.one else PROCESSES
        name = "kernels beside other packages" if others else "kernels"
        printed = steps.run(name, *compiling, *others).splitlines()
        play = [python, "-m", "ggp", "play"]
        steps.run("ggp play sokoban", [*play, "sokoban"], watch="step 1:")
        print(f"{steps.total:7.1f} {'':15}  together\n")
        steps.run("ggp play tictactoe, nothing compiled", [*play, "tictactoe"], watch="step 1:")
        steps.run("ggp --help", [python, "-m", "ggp", "--help"])
        print()
        told = [json.loads(line) for line in printed if line.startswith("{")]
        for line in sorted((one for one in told if "compiled" in one), key=lambda one: -one["seconds"]):
            print(f"{line['seconds']:7.1f} s  {line['compiled']}")


if __name__ == "__main__":
    main()
