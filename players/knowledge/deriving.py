"""`Deriving`: the network of derived propositions is made and kept by a process of its own, so that no turn
waits for it: that may take as long as :data:`propnet.derived.network.LIMITS` allow.

The process is ``python -m players.knowledge.deriving SOCKET TASK PRODUCT``, all inherited descriptors. It
ends when the other end of the socket is closed.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import sys
import threading
from collections.abc import Sequence

from gdl.checks.walk import Signature
from gdl.errors import GdlError
from gdl.rules import Rules
from gdl.terms import Term
from players.knowledge.derived_propositions import NotDerivedError
from players.processes.launch import launch_linked
from players.processes.lifeline import end_with
from players.processes.temporary import bytes_of, nameless, shared_bytes
from propnet.derived.network import derived_network, kept_network
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
        """What :func:`propnet.derived.network.derived_network` says. Raises NotDerivedError, at once, while
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
        made = -1
        try:
            made = nameless()
            files = shared_bytes(task), os.dup(made)
            ours, process = launch_linked("players.knowledge.deriving", files)
            with ours:
                process.wait()
            data = bytes_of(os.dup(made))
            self._network = from_bytes(data) if data else None
        except (OSError, GdlError) as error:
            log.info("derived propositions are not made: %s", error)
        finally:
            if made >= 0:
                os.close(made)
            self.ready = True


def main() -> None:
    """Make the network of a task."""
    connection, task, product = (int(argument) for argument in sys.argv[1:])
    end_with(connection)
    asked = pickle.loads(bytes_of(task))
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
