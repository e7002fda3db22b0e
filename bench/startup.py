"""How much CPU does a command take from its start to its end, where there is nearly nothing to do?

    python -m bench.startup [COMMAND...] [--repeats 5]

Each command runs in a process of its own: once to have its kernels compiled and its modules in byte code,
then so many times in turns with the others, so that what else the computer does meets all of them. The least
CPU seconds of each count. The first rows say what Python, NumPy and numba take by themselves.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.scripts import command_line

LEVELS = """\
; 1
#######
#@ $ .#
# $  .#
#######

; 2
########
#   .  #
# $$ . #
#@ $   #
# .    #
########
"""
PUZZLE = """(role you) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3) (legal you go) (legal you stay)
(<= (next (at ?y)) (does you go) (true (at ?x)) (succ ?x ?y))
(<= (next (at ?x)) (does you stay) (true (at ?x)))
(<= terminal (true (at 3))) (goal you 100)"""
COMMANDS = (
    "-c pass",
    "-c 'import numpy'",
    "-c 'import numba'",
    "-m ggp --help",
    "-m ggp solve puzzle.kif",
    "-m ggp solve levels.xsb:1",
    "-m ggp solve levels.xsb:2",
    "-m ggp solve hanoi",
    "-m ggp solve eightpuzzle",
    "-m ggp solve sokoban",
)
_SECONDS = 600.0


def measured(arguments: list[str], folder: str, environment: Mapping[str, str]) -> float:
    """CPU seconds of Python with these arguments. Raises CalledProcessError where it fails."""
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    end = time.monotonic() + _SECONDS
    while True:
        pid, status, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            process.kill()
        time.sleep(0.01)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, arguments)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """The command line."""
    parser = command_line(__doc__)
    parser.add_argument("commands", nargs="*", default=COMMANDS, help="arguments of Python, each as one word")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "levels.xsb").write_text(LEVELS, encoding="utf-8")
        Path(folder, "puzzle.kif").write_text(PUZZLE, encoding="utf-8")
        # Byte code is kept, as it is for whoever installed the program.
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": os.path.join(folder, "bytecode")}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        root = str(Path(__file__).resolve().parents[1])
        environment["PYTHONPATH"] = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
        commands = {text: shlex.split(text) for text in given.commands}
        for arguments in commands.values():
            measured(arguments, folder, environment)
        least = dict.fromkeys(commands, float("inf"))
        for _ in range(given.repeats):
            for text, arguments in commands.items():
                least[text] = min(least[text], measured(arguments, folder, environment))
    table = Table("python", "CPU seconds")
    table.columns[1].justify = "right"
    for text, seconds in least.items():
        table.add_row(text, f"{seconds:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
