"""`LeafValues`: what the leaves of a search are worth by what was learnt of the game before, in place of
playouts from them or mixed with these (S. Gelly and D. Silver: Combining online and offline knowledge in UCT,
2007)."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError
from players.batch_machine import BatchMachine, Ends, NetworkBatch, Records
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.state_values import StateValues, values_by
from players.knowledge.store import find, read_file

log = logging.getLogger("players.knowledge")

AUTO, OFF = "auto", "off"


class LeafValues:
    """The values of leaves.

    Attributes:
        share: how much of a leaf's result they are, 0..1; playouts have the rest.
    """

    def __init__(self, values: StateValues, share: float) -> None:
        self._values = values
        self.share = share

    def __str__(self) -> str:
        return f"leaves by what was learnt before ({self.share:.0%})"

    @property
    def alone(self) -> bool:
        """Whether no playouts are made."""
        return self.share >= 1.0

    def ends(self, batched: BatchMachine, records: Records) -> Ends:
        """In place of playouts: the goals of those of some states that are terminal. The others count as
        finished after one move, without a goal."""
        assert isinstance(batched, NetworkBatch)
        terminal, goals = batched.machine.ends(records)
        lengths = np.where(terminal, np.int32(0), np.int32(1)).astype(np.int32)
        return Ends(goals, lengths, np.ones(len(records), np.bool_))

    def mix(
        self,
        results: NDArray[np.float64],
        rows: NDArray[np.int64],
        records: Records,
        lengths: NDArray[np.int32],
    ) -> None:
        """Mix the states' values into their rows of the results of playouts, 0..1, float64, shape (n, roles);
        not where a playout had length 0, because the state is terminal."""
        open_ = lengths > 0
        where = rows[open_]
        if len(where):
            values = self._values.of(records[open_])
            results[where] += self.share * (values - results[where])


def leaf_values(batched: BatchMachine, wanted: str, share: float | None) -> LeafValues | None:
    """The values of the leaves of a game's search, if something is known of the game; None if not.

    ``wanted`` is AUTO for what is kept in the cache, OFF, or the path of an exported file, or of a folder as
    that in the cache; ``share`` is that which training has found best unless given. Raises GdlError for a
    named file that cannot be used."""
    if wanted == OFF or not isinstance(batched, NetworkBatch) or len(batched.machine.roles) < 2:
        return None
    machine = batched.machine
    if wanted == AUTO or Path(wanted).is_dir():
        found = find(machine.rules, None if wanted == AUTO else Path(wanted))
    else:
        known, names = read_file(Path(wanted)), canonical_names(machine.rules)
        if known.fingerprint != names.fingerprint:
            raise GdlError("this is knowledge of another game", source=wanted)
        found = names, known
    if found is None:
        return None
    names, known = found
    used = known.share if share is None else share
    if used <= 0.0:
        return None
    try:
        return LeafValues(values_by(known, names, machine.network), used)
    except GdlError as error:
        if wanted != AUTO and not Path(wanted).is_dir():
            raise
        log.warning("the game is played without knowledge: %s", error)
        return None
