"""``ggp verify``: recorded traces against a machine."""

from __future__ import annotations

from pathlib import Path

import typer

from ggp.commands import AnyMachine, check_machine
from ggp.printing import show


def command(
    paths: list[Path] = typer.Argument(
        help="Trace files, folders of them or with games/ and traces/ in them, or bundled games."
    ),
    games: Path | None = typer.Option(
        None, "--games", "-g", help="Folder of the rules, NAME.kif or NAME.hrf."
    ),
    machine: AnyMachine = "prover",
    jobs: int = typer.Option(1, "--jobs", "-j", min=1, help="Games at the same time."),
    seconds: float = typer.Option(120.0, "--seconds", "-s", min=0.1, help="Wall time per game."),
    memory: int = typer.Option(3000, min=100, help="Megabytes per game."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="A line for passing games too."),
) -> None:
    """Replay recorded traces against a machine.

    Compares every recorded state, its legal moves, terminal, goals and successor with the machine's
    answers. Prints a line per failing game with the first difference; the last line
    is ``N passed, N failed``. Exit status 1 if a game failed.
    """
    from gdl.words import counted
    from ggp.traces.verify import find_traces, verify_all

    check_machine(machine)
    passed = failed = 0
    for verdict in verify_all(find_traces(paths, games), machine, jobs, seconds, memory):
        if verdict.fault is None:
            passed += 1
            if verbose:
                states = counted(verdict.steps, "state")
                show(f"{verdict.name}: {states}, {verdict.seconds:.2f} s")
        else:
            failed += 1
            show(f"{verdict.name}: {verdict.fault}")
    show(f"{passed} passed, {failed} failed")
    if failed:
        raise typer.Exit(1)
