"""The test process that gdl-perf (Alex Landau's benchmark of GDL engines) starts per game.

gdl-perf appends three arguments to an engine's command line: the absolute path of the rules, that of the
file for the results, and the seconds to run. It reads ``name = value`` lines from the file: ``version``,
``millisecondsTaken``, ``numStateChanges``, ``numRollouts``, or ``version`` and ``errorMessage``. Its clock
is the one on the wall and starts when the engine is ready.
"""

from __future__ import annotations

import time
from pathlib import Path

from gdl.errors import GdlError
from gdl.machine import Machine
from ggp.output_file import write_file

_FIRST = {"prover": 1}
_FIRST_LANES = 4096


def perf_test(rules_file: Path, results_file: Path, seconds: float, level: str, seed: int = 0) -> bool:
    """Run random playouts for that long by the clock on the wall, and write the results or the error.

    Plays whole batches, the last one past the end of the time if need be, and counts the time of all. Returns
    whether there was no error. Raises GdlError if the file for the results cannot be written.
    """
    from ggp.bench.measure import engine_version, make
    from ggp.game import Game

    results = {"version": f"{engine_version()}, {level}"}
    try:
        machine, _ = make(Game.load(rules_file).rules, level)
        results |= _play(machine, seconds, seed)
    except GdlError as error:
        results["errorMessage"] = f"{type(error).__name__}: {error}"
    except MemoryError:
        results["errorMessage"] = "MemoryError: not enough memory"
    write_file(results_file, key_values(results).encode())
    return "errorMessage" not in results


def _play(machine: Machine, seconds: float, seed: int) -> dict[str, str]:
    machine.playouts(1, seed)  # what is compiled or loaded at the first use belongs to getting ready
    batch = _FIRST.get(machine.level, _FIRST_LANES)
    rollouts = changes = calls = 0
    start = now = time.perf_counter()
    while now - start < seconds:
        calls += 1
        result = machine.playouts(batch, seed + calls)
        changes += result.states
        rollouts += batch - result.cut
        before, now = now, time.perf_counter()
        if now - before < seconds / 16 and batch < 1 << 24:
            batch *= 2
        elif now - before > seconds / 4 and batch > 1:
            batch = max(1, batch // 4)
    return {
        "millisecondsTaken": str(max(1, round(1000 * (now - start)))),
        "numStateChanges": str(changes),
        "numRollouts": str(rollouts),
    }


def key_values(results: dict[str, str]) -> str:
    """The lines of a results file; values lose their line breaks."""
    return "".join(f"{key} = {' '.join(value.split())}\n" for key, value in results.items())
