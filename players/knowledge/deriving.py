"""`Deriving`: the network of derived propositions is made and kept by a process of its own, so that no turn
waits for it: that may take as long as :data:`propnet.derived.LIMITS` allow.

The process is ``python -m players.knowledge.deriving SOCKET TASK PRODUCT``, all inherited descriptors. It
ends when the other end of the socket is closed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import socket
import sys
import threading
from collections.abc import Sequence

from gdl.errors import GdlError
from gdl.rules import Rules, Signature
from gdl.terms import Term
from players.knowledge.derived_propositions import NotDerivedError
from players.processes.ending import end_with
from players.processes.launch import launch
from players.processes.nameless import nameless, shared_bytes
from propnet.derived import derived_network, kept_network
from propnet.network import Network
from propnet.private_files import default_directory, make_directory
from propnet.storage.network_bytes import from_bytes, to_bytes
from propnet.storage.process_lock import ProcessLock

log = logging.getLogger("players.knowledge")


class Deriving:
    """Makes one network in a process, once.

    Attributes:
        ready: whether what was asked for is there now, or cannot be made.
    """

    def __init__(self) -> None:
        self._asked = self.ready = False
        self._network: Network | None = None

    def network(self, rules: Rules, bases: Sequence[Term], relations: Sequence[Signature]) -> Network | None:
        """What :func:`propnet.derived.derived_network` says. Raises NotDerivedError, at once, while
        that is not known."""
        if self.ready:
            return self._network
        if not self._asked:
            kept = kept_network(rules, bases, relations)
            if kept is not None:
                return kept
            self._asked = True
            task = pickle.dumps((rules, tuple(bases), tuple(relations)))
            threading.Thread(target=self._make, args=(task,), daemon=True, name="deriving").start()
        raise NotDerivedError

    def _make(self, task: bytes) -> None:
        """Have it made, and wait for that."""
        files: list[int] = []
        try:
            ours, theirs = socket.socketpair()
            files += [ours.detach(), theirs.detach()]
            files += [shared_bytes(task), nameless()]
            inherited = {file: file for file in files[1:]}
            process = launch("players.knowledge.deriving", [str(file) for file in inherited], inherited)
            process.wait()
            with os.fdopen(os.dup(files[-1]), "rb") as product:
                product.seek(0)
                data = product.read()
            self._network = from_bytes(data) if data else None
        except (OSError, GdlError) as error:
            log.info("derived propositions are not made: %s", error)
        finally:
            for file in files:
                os.close(file)
            self.ready = True


def main() -> None:
    """Make the network of a task."""
    connection, task, product = (int(argument) for argument in sys.argv[1:])
    end_with(connection)
    with os.fdopen(task, "rb") as file:
        file.seek(0)
        asked = pickle.load(file)
    # Several searches may ask for the same: the others find it kept.
    lock = None
    with contextlib.suppress(OSError, RuntimeError):
        folder = default_directory() / "locks"
        make_directory(folder)
        lock = ProcessLock(str(folder / "derived"))
        lock.take()
    network = derived_network(*asked)
    if lock is not None:
        lock.leave()
    if network is not None:
        with os.fdopen(product, "wb") as out:
            out.write(to_bytes(network))


if __name__ == "__main__":
    main()
