"""`LeafValues`: values of the leaves of a search by knowledge learnt before, in place of playouts or mixed
with them (S. Gelly and D. Silver: Combining online and offline knowledge in UCT, 2007)."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from gdl.information import chance_role, playing
from gdl.terms import Term
from players.batch_machine import BatchMachine, Ends, NetworkBatch, Records
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import use
from players.knowledge.state_values import StateValues
from players.knowledge.store import find, read_file
from players.uct.batches import Batch
from players.uct.tuning import AUTO, Tuning
from propnet.machine import PropnetMachine

log = logging.getLogger("players.knowledge")

OFF = "off"
_LOOKING = 64
"""Most paths in a batch that looks at all moves of its new states: these fill the lanes."""


class LeafValues:
    """The values of leaves.

    Attributes:
        proves: whether results of states are to be taken for proven.
        unfair: whether a state was met in which goals do not add up to 100.
        chance: the role whose moves are drawn uniformly, -1 for none.
        share: the weight of the values in a leaf's result, 0..1; playouts have the rest.
        looks: whether to look at the children of nodes: if asked for, without playouts, and if one of two
            roles gets what the other does not.
    """

    def __init__(
        self, values: StateValues, share: float, machine: PropnetMachine, looks: bool = False
    ) -> None:
        self._values = values
        self._machine = machine
        self.share = share
        self.looks = looks and self.alone and values.paired and can_look(machine.roles)
        chance = chance_role(machine.roles)
        self.chance = -1 if chance is None else chance
        self.proves, self.unfair = chance is None, False

    def __str__(self) -> str:
        return f"leaves by knowledge learnt before ({use(self.share, self.looks)})"

    @property
    def alone(self) -> bool:
        """Whether no playouts are made."""
        return self.share >= 1.0

    def ends(self, batched: BatchMachine, records: Records) -> Ends:
        """Ends in place of playouts: terminal states have their goals. The others count as finished after one
        move, without a goal."""
        assert isinstance(batched, NetworkBatch)
        terminal, goals = batched.machine.ends(records)
        lengths = np.where(terminal, np.int32(0), np.int32(1)).astype(np.int32)
        return Ends(goals, lengths, np.ones(len(records), np.bool_))

    def over(self, records: Records) -> tuple[NDArray[np.bool_], NDArray[np.int16]]:
        """See :class:`players.uct.tree.values.Values`."""
        return self._machine.ends(records)

    def look(self, records: Records) -> tuple[NDArray[np.float32], NDArray[np.int16]]:
        """See :class:`players.uct.tree.values.Values`."""
        values = self._values.of(records)[:, 0].astype(np.float32)
        terminal, goals = self._machine.ends(records)
        over = np.flatnonzero(terminal)
        results = np.full(len(records), -1, np.int16)
        if len(over):
            reached = goals[over, :2]
            fair = (reached >= 0).all(axis=1) & (reached.sum(axis=1) == 100)
            self.unfair = self.unfair or not fair.all()
            values[over] = np.where(reached[:, 0] < 0, 50, reached[:, 0]) / 100.0
            if self.proves:
                results[over[fair]] = reached[fair, 0]
        return values, results

    def fitting(self, batch: Batch) -> Batch:
        """The batch to do in place of a planned one."""
        if not self.alone:
            return batch
        return batch._replace(paths=min(batch.paths, _LOOKING) if self.looks else batch.paths, each=1)

    def go_on_with(self, batched: BatchMachine) -> None:
        """Go on with another machine, with the same states."""
        if isinstance(batched, NetworkBatch):
            self._machine = batched.machine

    def mix(
        self,
        results: NDArray[np.float64],
        rows: NDArray[np.int64],
        records: Records,
        open_: NDArray[np.bool_],
    ) -> None:
        """Mix the states' values into their rows of the results of playouts, 0..1, float64, shape (n, roles),
        if the match goes on (``open_``)."""
        where = rows[open_]
        if len(where):
            values = self._values.of(records[open_])
            results[where] += self.share * (values - results[where])


def can_look(roles: Sequence[Term]) -> bool:
    """Whether there are two players' roles, and chance comes after them if at all."""
    return playing(roles) == [0, 1]


def leaf_values(batched: BatchMachine, tuning: Tuning) -> LeafValues | None:
    """The values of the leaves of a game's search; None if nothing is known of the game.

    The tuning's ``knowledge`` is AUTO for the cache, OFF, or the path of an exported file or of a folder like
    the cache. Its ``knowledge_share`` defaults to the share that training found best.

    Raises:
        GdlError: a file named explicitly cannot be used.
    """
    source, share = tuning.knowledge, tuning.knowledge_share
    if source == OFF or not isinstance(batched, NetworkBatch) or len(batched.machine.roles) < 2:
        return None
    machine = batched.machine
    if source == AUTO or Path(source).is_dir():
        found = find(machine.rules, None if source == AUTO else Path(source))
    else:
        knowledge, names = read_file(Path(source)), canonical_names(machine.rules)
        if knowledge.fingerprint != names.fingerprint:
            raise GdlError("this is knowledge of another game", source=source)
        found = names, knowledge
    if found is None:
        return None
    names, knowledge = found
    used = knowledge.share if share is None else share
    if used <= 0.0:
        return None
    try:
        return LeafValues(
            StateValues.of_game(knowledge, names, machine),
            used,
            machine,
            knowledge.looks if tuning.looks is None else tuning.looks,
        )
    except GdlError as error:
        if source != AUTO and not Path(source).is_dir():
            raise
        log.warning("the game is played without knowledge: %s", error)
        return None
