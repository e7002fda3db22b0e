"""Derived propositions: the records of states, extended by propositions that the rules derive.

Their network may take long to make. `Deriving` makes and caches it in a process of its own, so that no turn
waits for it: ``python -m players.knowledge.derived_propositions SOCKET TASK PRODUCT``, all inherited
descriptors. The process ends when the other end of the socket is closed. :data:`propnet.derived.LIMITS`
limits its time.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.rules import Rules, Signature, body_literals
from gdl.terms import GOAL, LEGAL, TERMINAL, Term
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.knowledge import KnowledgeError
from players.processes.launch import launch_linked
from players.processes.lifeline import end_with
from players.processes.temporary import bytes_of, nameless, shared_bytes
from propnet.derived import derived_network, derived_relations, kept_network
from propnet.kernels.records import record_words, unpack
from propnet.machine import PropnetMachine
from propnet.network import Network
from propnet.private_files import default_directory, make_directory
from propnet.recoding.samples import sample_states
from propnet.storage.network_bytes import from_bytes, to_bytes
from propnet.storage.process_lock import ProcessLock

_SAMPLE = 1024
"""States that show whether propositions say more than a sum would."""


class DerivedPropositions:
    """Derived propositions of a game. A state's *long* record is its record, followed by words with the
    derived propositions that hold.

    Attributes:
        relations: canonical names of the relations, each with its number of arguments.
        terms: the derived propositions.
        propositions: the meaning of the bits of long records: the base propositions, None for unused bits,
            then ``terms``, from bit ``first`` on.
        words: 64-bit words of a long record.
    """

    def __init__(self, bases: tuple[Term, ...], network: Network, relations: tuple[str, ...]) -> None:
        """The propositions of ``network``, made by :func:`propnet.derived.derived_network`, for states over
        these base propositions."""
        self.relations = relations
        self.terms = network.moves[0]
        self.first = 64 * record_words(len(bases))
        self.words = self.first // 64 + record_words(len(self.terms))
        self.propositions = (*bases, *[None] * (self.first - len(bases)), *self.terms)
        self._machine = PropnetMachine(Rules(()), network)

    def __reduce__(self) -> tuple[Any, ...]:
        network = self._machine.network
        return DerivedPropositions, (network.bases, network, self.relations)

    def long(self, records: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The long records of states, uint64, shape (n, words), of their records."""
        return np.concatenate([records, self._machine.evaluate(records).legal], axis=1)


def find_derived(machine: PropnetMachine, names: CanonicalNames, seed: int = 0) -> DerivedPropositions | None:
    """The derived propositions of a game that say more than base propositions, each with a weight of its own;
    None if there are none, or too many. They belong to relations that legal moves, the end and goals ask for
    directly. Deeper relations have been of no use, and make values slow (see docs/measurements.md)."""
    rules, bases = machine.rules, machine.network.bases
    relations = _asked_at_the_top(rules)
    network = derived_network(rules, bases, relations)
    if network is None:
        return None
    sample = sample_states(machine, _SAMPLE, seed)
    says_more = _say_more(network, np.array(sample[~machine.ends(sample)[0]]))
    terms = network.moves[0]
    saying = {term.signature for term, more in zip(terms, says_more, strict=True) if more}
    useful = [relation for relation in relations if relation in saying]
    if len(useful) < len({term.signature for term in terms}):
        network = derived_network(rules, bases, useful) if useful else None
    if network is None:
        return None
    return DerivedPropositions(bases, network, tuple(_key(relation, names) for relation in useful))


Derive = Callable[[Rules, Sequence[Term], Sequence[Signature]], Network | None]
"""Makes the network of some derived relations over some base propositions, like
:func:`propnet.derived.derived_network`."""


def derived_of(
    machine: PropnetMachine, names: CanonicalNames, relations: Sequence[str], derive: Derive = derived_network
) -> DerivedPropositions:
    """The derived propositions of these relations, given by canonical names. Raises KnowledgeError if the
    game lacks one of them, and the errors of ``derive``."""
    asked = [each for each in derived_relations(machine.rules) if _key(each, names) in set(relations)]
    fits = len(asked) == len(relations) > 0
    network = derive(machine.rules, machine.network.bases, asked) if fits else None
    if network is None:
        raise KnowledgeError("it is knowledge of other relations", remedy="train the game again")
    return DerivedPropositions(machine.network.bases, network, tuple(relations))


class NotDerivedError(KnowledgeError):
    """The network of derived propositions is being made."""

    def __init__(self) -> None:
        super().__init__("the game's derived propositions are not ready yet", remedy="wait")


def _key(relation: Signature, names: CanonicalNames) -> str:
    return f"{names.new.get(relation[0], relation[0])}/{relation[1]}"


def _asked_at_the_top(rules: Rules) -> list[Signature]:
    """The derived relations that rules for legal, terminal or goal ask for directly."""
    top = (LEGAL, 2), (TERMINAL, 0), (GOAL, 2)
    asked = {
        literal.atom.signature
        for rule in rules
        if rule.head.signature in top
        for literal, _ in body_literals(rule)
    }
    return [relation for relation in derived_relations(rules) if relation in asked]


def _say_more(network: Network, sample: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which derived propositions are more than a sum of base propositions, by a sample of states; bool, shape
    (propositions,).

    False for a proposition that is a base proposition, for a disjunction of base propositions of which at
    most one holds, for one that holds if none of these does, and for one that never changes."""
    holds = unpack(sample, len(network.bases)).astype(np.int32)
    found = np.ones(network.move_count, np.bool_)
    start, inputs, first = network.gate_start, network.gate_inputs, network.first_gate
    machine = PropnetMachine(Rules(()), network)
    derived = unpack(machine.evaluate(sample).legal, network.move_count)
    changes = derived.any(axis=0) & ~derived.all(axis=0)
    for number, literal in enumerate(network.legal_literals.tolist()):
        node = literal >> 1
        if node <= len(network.bases):
            found[number] = False
        elif node >= first:
            read = inputs[start[node - first] : start[node - first + 1]]
            bases = (read >> 1) - 1
            if (bases < len(network.bases)).all() and (read & 1).all():
                found[number] = holds[:, bases].sum(axis=1).max() > 1
    return found & changes


log = logging.getLogger("players.knowledge")


class Deriving:
    """Makes one network in a process, once.

    Attributes:
        ready: whether the network is there now, or cannot be made.
    """

    def __init__(self) -> None:
        self._asked = self.ready = False
        self._network: Network | None = None

    def network(self, rules: Rules, bases: Sequence[Term], relations: Sequence[Signature]) -> Network | None:
        """The result of :func:`propnet.derived.derived_network`. Raises NotDerivedError, at once, until it is
        ready."""
        if self.ready:
            return self._network
        if not self._asked:
            cached = kept_network(rules, bases, relations)
            if cached is not None:
                return cached
            self._asked = True
            task = pickle.dumps((rules, tuple(bases), tuple(relations)))
            threading.Thread(target=self._make, args=(task,), daemon=True, name="deriving").start()
        raise NotDerivedError

    def _make(self, task: bytes) -> None:
        """Start the process, and wait for its result."""
        product = -1
        try:
            product = nameless()
            files = shared_bytes(task), os.dup(product)
            ours, process = launch_linked("players.knowledge.derived_propositions", files)
            with ours:
                process.wait()
            data = bytes_of(os.dup(product))
            self._network = from_bytes(data) if data else None
        except (OSError, GdlError) as error:
            log.info("derived propositions are not made: %s", error)
        finally:
            if product >= 0:
                os.close(product)
            self.ready = True


def main() -> None:
    """Make the network of a task."""
    connection, task, product = (int(argument) for argument in sys.argv[1:])
    end_with(connection)
    asked = pickle.loads(bytes_of(task))
    # Several searches may ask for the same network: the others find it in the cache.
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
