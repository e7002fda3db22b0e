"""``ggp verify``: recorded traces against a machine."""

from __future__ import annotations

from pathlib import Path

import typer

from ggp.commands import check_machine
from ggp.printing import show


def command(
    paths: list[Path] = typer.Argument(
        help="Trace files, folders of them or with games/ and traces/ in them, or bundled games."
    ),
    games: Path | None = typer.Option(
        None, "--games", "-g", help="Folder of the rules, NAME.kif or NAME.hrf."
    ),
    machine: str = typer.Option("prover", "--machine", "-m", help="prover, propnet, native or auto."),
) -> None:
    """Replay recorded traces against a machine.

    Compares every recorded state, its legal moves, terminal, goals and successor with the machine's
    answers. Prints a line per failing game with the first difference; the last line
    is ``N passed, N failed``. Exit status 1 if a game failed.
    """
    from ggp.traces import find_traces, verify_all

    check_machine(machine)
    passed = failed = 0
    for verdict in verify_all(find_traces(paths, games), machine):
        if verdict.fault is None:
            passed += 1
        else:
            failed += 1
            show(f"{verdict.name}: {verdict.fault}")
    show(f"{passed} passed, {failed} failed")
    if failed:
        raise typer.Exit(1)
