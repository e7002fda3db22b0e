"""Compiles, or loads, everything that a match needs, so that no match waits for it.

If nothing is compiled yet, this takes longer than most startclocks. ``python -m ggp.warm player NAME``
compiles in a process of its own, which reports the kernels on its standard output as JSON lines: ``begun``
with a kernel's name, ``compiled`` with the name and ``seconds``. ``ggp warm`` starts several such processes
(:func:`compile_all`) and shows their progress. ``ggp play`` compiles only the parts that its match needs, by
``python -m ggp.warm parts NAMES`` (:func:`compile_missing`), or by ``behind NAMES`` during the match
(:func:`compile_behind`).
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from rich.text import Text

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from gdl.words import counted
from players.kaskade.kaskade import BOTTOM
from players.kaskade.make_machine import make_machine
from players.kaskade.stages import WARM_UP_GAMES, warm_up_native, warm_up_propnet
from players.options import read_spec
from players.processes.launch import anew
from players.registry import is_registered, make_player
from players.solvers import solvers_named
from players.warm_kernels import TREE, parts_for, parts_named, plays_out, searches
from propnet.jit.notice import tell_when_compiling
from propnet.jit.parts import Part, compile_together, folder_of_parts, missing

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


PROCESSES = (
    "ggp.match_process.safe_move_process",
    "ggp.match_process.thinking_process",
    "players.kaskade.builder",
    "players.uct.training.play_processes",
    "players.uct.workers.worker",
)
"""The modules that the processes of a match run."""


_LAST_IN_LINE = 19
"""Nice value of a process that compiles while a match is played."""


def warm_up(player: str, level: str, on_several: Callable[[], None] = lambda: None) -> None:
    """Have compiled what all players need, then play with this kind of player on the machine of this level.

    Args:
        player, level: names of a player and of the furthest machine that it will have.
        on_several: called as soon as everything is there for games of several roles. Games of a single
            role need more.

    Raises:
        GdlError: there is no such player or machine.
    """
    # Players from outside this program, and those that only look at the rules, need no kernels.
    lanes = level != BOTTOM and plays_out([player])
    tree = TREE if searches([player]) else ()
    one_role, several_roles = WARM_UP_GAMES
    compile_together(parts_for([player]) if lanes else tree)
    _play(player, level, several_roles)
    on_several()
    solvers = solvers_named(None, own=False)
    compile_together(parts_for([player], solvers=solvers, hidden=True) if lanes else ())
    _play(player, level, one_role)


def _play(name: str, level: str, rules: str) -> None:
    machine = make_machine(parse_rules(rules, "warm-up"), level)
    player = make_player(name, 0)
    state = machine.initial_state()
    player.start(machine, 0, state, 0.1, time.monotonic() + 0.1)
    player.choose(state, time.monotonic() + 0.1)
    player.stop()


def warm_up_standby() -> None:
    """Load what a standby needs."""
    import_module("ggp.match_process.safe_move_process")


def warm_up_all(player: str, level: str) -> None:
    """Warm up for all processes of a match, in this one alone.

    They are forked from it afterwards (:mod:`players.processes.fork_server`), so it starts no process and
    leaves no thread. Raises GdlError as :func:`warm_up`.
    """
    for module in PROCESSES:
        import_module(module)
    # Players from outside this program may hang: they are not tried.
    if is_registered(player):
        warm_up(alone(player), level)
    if level != BOTTOM:
        warm_up_propnet()
        warm_up_native()


def alone(player: str) -> str:
    """The player's name without the option that makes it start processes."""
    return str(read_spec(player).without("workers"))


def main() -> None:
    """Warm up for one player, or compile some parts, and report the compiled kernels."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Output of libraries must not mix with the messages.
    os.dup2(2, 1)

    def report(kernel: str, seconds: float) -> None:
        message = {"begun": kernel} if seconds < 0.0 else {"compiled": kernel, "seconds": seconds}
        out.write(json.dumps(message) + "\n")
        out.flush()

    tell_when_compiling(report)
    what, *names = sys.argv[1:]
    gc.disable()  # a short life, in which millions of objects are made that stay to the end
    if what in ("parts", "behind"):
        if what == "behind":
            os.nice(_LAST_IN_LINE)
        compile_together(parts_named(names))
    else:
        warm_up_all(names[0], "auto")


_LAST = 300
"""Characters of a process's errors that are shown."""


def compile_all(player: str, processes: int) -> bool:
    """Compile everything that matches of this player (a registered name, with or without options) need, with
    ``processes`` processes. Returns whether all of it could be compiled. Raises GdlError if there is no
    folder for it."""
    from ggp.console import new_console, spinner

    console = new_console(soft_wrap=True)
    folder = _kernel_folder()
    if not os.access(folder, os.W_OK):
        text = f"{folder} is read-only: newly compiled kernels are not saved"
        console.print(text, style="yellow")
    with spinner(console) as progress:
        progress.add_task("looking for kernels to compile")
        count, seconds, faults = _run(["player", player], processes, progress, aloud=True)
    if faults:
        console.print(f"not everything could be compiled: {faults[0]}", style="yellow")
        console.print("matches compile the rest when they need it", style="yellow")
    elif count:
        console.print(f"all is ready: {counted(count, 'kernel')} compiled in {seconds:.0f} s")
    else:
        console.print(f"all is ready, nothing was to be compiled ({seconds:.1f} s)")
    return not faults


def compile_missing(parts: Sequence[Part], processes: int, progress: Progress) -> None:
    """Compile the parts that are not compiled yet, with ``processes`` processes, and show the progress. If a
    process fails or nothing can be saved, the remaining parts are compiled at their first use."""
    uncompiled = missing(parts)
    if not uncompiled:
        return
    console = progress.console
    try:
        _kernel_folder()
    except GdlError:
        return
    console.print("compiling what this match needs, once...", style="dim")
    arguments = ["parts", *(name for name, _ in uncompiled)]
    count, seconds, faults = _run(arguments, processes, progress, aloud=False)
    if faults:
        console.print(Text(f"not everything could be compiled: {faults[0]}", "yellow"))
    console.print(f"{counted(count, 'kernel')} compiled in {seconds:.0f} s", style="dim")


def _run(
    arguments: Sequence[str], processes: int, progress: Progress, aloud: bool
) -> tuple[int, float, list[str]]:
    """Compile with several processes. Returns the number of kernels, the seconds, and what went wrong."""
    began = time.monotonic()
    running = [_WarmProcess(arguments, progress, aloud) for _ in range(processes)]
    faults = [fault for process in running if (fault := process.wait())]
    return sum(process.compiled for process in running), time.monotonic() - began, faults


def compile_behind(parts: Sequence[Part]) -> subprocess.Popen[bytes]:
    """Start a process that compiles these parts and gives way to all others. Raises OSError."""
    return anew("ggp.warm", ["behind", *(name for name, _ in parts)], {2: subprocess.DEVNULL})


def _kernel_folder() -> str:
    """The folder of compiled kernels. Raises GdlError if there is none: compiling would be useless."""
    if (folder := folder_of_parts()) is None:
        raise GdlError(
            "nothing that is compiled can be kept: no folder for it can be written by you alone",
            remedy="name one in $NUMBA_CACHE_DIR",
        )
    return str(folder)


class _WarmProcess:
    """A process that compiles, and its line on the screen; ``compiled`` counts its kernels. ``aloud``: each
    gets a line that stays."""

    def __init__(self, arguments: Sequence[str], progress: Progress, aloud: bool) -> None:
        self.compiled = 0
        self._progress, self._aloud = progress, aloud
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._fault = ""
        ours, theirs = os.pipe()
        self._messages = os.fdopen(ours, encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = anew("ggp.warm", arguments, {1: theirs, 2: self._errors.fileno()})
        except OSError as error:
            self._fault = f"no process could be started ({error.strerror})"
        finally:
            os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def wait(self) -> str:
        """Wait for its end; return what went wrong, empty if nothing did."""
        try:
            if self._process is not None:
                status = self._process.wait()
                if status:
                    self._errors.seek(0)
                    lines = self._errors.read().decode(errors="replace").strip().splitlines()
                    self._fault = lines[-1][-_LAST:] if lines else f"a process has ended with status {status}"
            self._reader.join()
        except BaseException:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            raise
        finally:
            self._errors.close()
        return self._fault

    def _read(self) -> None:
        task: TaskID | None = None
        with self._messages:
            for line in self._messages:
                message = json.loads(line)
                if task is not None:
                    self._progress.remove_task(task)
                    task = None
                if "begun" in message:
                    task = self._progress.add_task(message["begun"])
                else:
                    self.compiled += 1
                    if self._aloud:
                        self._progress.console.print(f"{message['seconds']:6.1f} s  {message['compiled']}")
        if task is not None:
            self._progress.remove_task(task)


if __name__ == "__main__":
    main()
