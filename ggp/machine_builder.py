"""Making the fast machine of a game in a process of its own; run as ``python -m ggp.machine_builder``.

Grounding hostile rules may take all the time and memory it is given. Here it takes neither the
interpreter lock nor the memory of the process that must answer in time, and it can die alone.

The process reads the rules (a line with their length in bytes, then the text), writes the pickled
machine, or the text of an error, and ends; at once if its input is closed.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import threading

from gdl.errors import GdlError, TooLargeError
from gdl.machine import Machine
from gdl.parser import parse_rules
from players.limits import WARM_UP_GAMES, describe, limit_memory
from players.machines import make_machine

MEMORY_BYTES = 4 * 1024**3
"""Data that a builder may allocate; the grounder's own limit is lower and fails cleaner."""


class Builder:
    """Has a machine made beside the thread that plays on a slower one.

    The process starts, and imports what it needs, before it is given rules.

    Args:
        level: which machine, for :func:`players.machines.make_machine`.
    """

    def __init__(self, level: str) -> None:
        self._machine: Machine | None = None
        self._error = ""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "ggp.machine_builder", level],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._rules = b""

    def begin(self, rules: str) -> None:
        """Build the machine of these rules, given as text."""
        self._rules = rules.encode()
        self._thread.start()

    def wait(self, seconds: float) -> bool:
        """Whether it has come to an end, waiting for at most that long."""
        self._thread.join(max(0.0, seconds))
        return not self._thread.is_alive()

    def machine(self) -> Machine:
        """What was made, once :meth:`wait` says that it is over.

        Raises:
            TooLargeError: nothing was made, with the reason.
        """
        if self._machine is None:
            raise TooLargeError(self._error)
        return self._machine

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        if not self._thread.is_alive():
            with self._process:  # closes its pipes
                pass

    def _run(self) -> None:
        try:
            with self._process as process:
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(b"%d\n" % len(self._rules) + self._rules)
                process.stdin.flush()
                data = process.stdout.read()
            if not data:
                self._error = f"the process that builds ended with status {process.returncode}"
                return
            # The sender is our own program: it makes pickles of machines and strings only.
            found = pickle.loads(data)
        except Exception as error:  # a broken pipe, a pickle cut short, no memory: all the same here
            self._error = describe(error)
            return
        if isinstance(found, Machine):
            self._machine = found
        else:
            self._error = str(found)


def main() -> None:
    """Build one machine."""
    limit_memory(MEMORY_BYTES)
    # What libraries print must not mix with the pickle.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    level = sys.argv[1]
    with contextlib.suppress(Exception):  # what fails here fails again below, and is told then
        for game in WARM_UP_GAMES:
            make_machine(parse_rules(game, "warm-up"), level)
    size = sys.stdin.buffer.readline()
    if not size:
        return  # no match wanted it
    text = sys.stdin.buffer.read(int(size)).decode()
    threading.Thread(target=_end_with_the_input, daemon=True).start()
    try:
        found = pickle.dumps(make_machine(parse_rules(text, "rules"), level))
    except GdlError as error:
        found = pickle.dumps(str(error))
    except (MemoryError, RecursionError):
        found = pickle.dumps("building takes more memory than it may")
    except Exception as error:
        found = pickle.dumps(describe(error))
    out.write(found)
    out.flush()
    os._exit(0)


def _end_with_the_input() -> None:
    sys.stdin.buffer.read()
    os._exit(0)


if __name__ == "__main__":
    main()
