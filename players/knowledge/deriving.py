"""`Deriving`: the network of derived propositions is made and kept by a process of its own
(``python -m players.knowledge.deriving``), so that no turn waits for it: that may take as long as
:data:`propnet.derived.network.LIMITS` allow."""

from __future__ import annotations

import os
import pickle
import subprocess
from collections.abc import Sequence

from gdl.checks.walk import Signature
from players.processes.launch import Forked, launch
from players.processes.nameless import shared_bytes
from propnet.derived.network import derived_network
from propnet.machine import PropnetMachine
from propnet.private_files import default_directory
from propnet.storage.process_lock import ProcessLock


class Deriving:
    """A process that makes a game's network of the propositions of some relations."""

    def __init__(self, machine: PropnetMachine, relations: Sequence[Signature]) -> None:
        self._process: Forked | subprocess.Popen[bytes] | None = None
        task = shared_bytes(pickle.dumps((machine.rules, machine.network.bases, tuple(relations))))
        try:
            self._process = launch("players.knowledge.deriving", (), {0: task})
        except OSError:  # there are no more processes
            pass
        finally:
            os.close(task)

    @property
    def done(self) -> bool:
        """Whether it has come to its end: what could be made is kept."""
        return self._process is None or self._process.poll() is not None


def main() -> None:
    """Make the network of the task on standard input."""
    with os.fdopen(0, "rb") as file:
        file.seek(0)
        rules, bases, relations = pickle.load(file)
    # Several searches may ask for the same: the others find it kept.
    lock = ProcessLock(str(default_directory() / "networks" / ".lock-derived"))
    lock.take()
    derived_network(rules, bases, relations)
    lock.leave()


if __name__ == "__main__":
    main()
