"""`StateValues`: what states are worth to each role by what was learnt, many states at once."""

from __future__ import annotations

from copy import copy

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from players.knowledge.canonical_rules import CanonicalNames
from players.knowledge.derived_propositions import Derive, DerivedPropositions, derived_of
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge, KnowledgeError
from players.knowledge.models import NetLayers, TupleTables
from players.knowledge.n_tuples import NTuples
from players.knowledge.value_kernels import MOST_WEIGHT, SCALE, fill_table, values_of_states
from propnet.derived import derived_network
from propnet.machine import PropnetMachine


class StateValues:
    """The value of states: the logistic function of a sum of weights, one for each proposition that is true,
    derived ones among them where these count, and one for each n-tuple where there are such, or what a net
    says besides.

    Attributes:
        table, constant: the weights, as :func:`players.knowledge.value_kernels.values_of_states` takes them.
        tuples, net: the tables of n-tuples, or the net, if there are any.
        derived: the derived propositions that count, if any do.
    """

    def __init__(
        self,
        bits: int,
        roles: int,
        columns: tuple[int, ...],
        tuples: TupleTables | None = None,
        net: NetLayers | None = None,
        derived: DerivedPropositions | None = None,
    ) -> None:
        """For a game of ``roles`` and so many base propositions, or ``bits`` of long records where there are
        ``derived`` propositions; ``columns`` are the roles that have values of their own: all of them, or one
        of two. There are tuples or a net, not both."""
        self._roles = roles
        self._columns = columns
        self.table = np.zeros((len(columns), 256 * -(-bits // 8)), np.int32)
        self.constant = np.zeros(len(columns), np.int32)
        self.tuples, self.net, self.derived = tuples, net, derived

    def sent(self) -> StateValues:
        """The same without the derived propositions: whoever is sent it has these, and adds them."""
        sent = copy(self)
        sent.derived = None
        return sent

    def set_weights(self, weights: NDArray[np.float32], constant: NDArray[np.float32]) -> None:
        """Take other weights: float32, shape (bases, columns), and those of all states, shape (columns,)."""
        fill_table(_whole(weights), self.table)
        self.constant = _whole(constant)

    def take(self, other: StateValues) -> None:
        """Take over the weights of other values of the same game."""
        self.table, self.constant = other.table, other.constant
        self.tuples, self.net = other.tuples, other.net

    @property
    def paired(self) -> bool:
        """Whether what one of two roles gets the other does not."""
        return self._roles == 2 and len(self._columns) == 1

    def columns_of(self, records: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Values, 0..1, float32, shape (n, columns), of states: records, uint64, shape (n, words)."""
        if self.derived is not None:
            records = self.derived.long(records)
        values = np.empty((len(self._columns), len(records)), np.float32)
        rows, flags = records, records.flags
        if not (flags.c_contiguous and flags.writeable):  # np.require asks for longer than that takes
            rows = np.require(records, np.uint64, ["C", "W"])
        more = self.tuples or self.net
        values_of_states(rows, self.table, self.constant, more is not None, values)
        if more is not None:
            more.add(rows, values)
        return values.T

    def of(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        """What the states are worth to each role, 0..1, float64, shape (n, roles)."""
        return self.spread(self.columns_of(records))

    def spread(self, values: NDArray[np.float32]) -> NDArray[np.float64]:
        """The values of all roles, float64, shape (n, roles), of those of the columns."""
        result = np.empty((len(values), self._roles))
        if len(self._columns) < self._roles:
            result[:] = 1.0 - values
        for place, role in enumerate(self._columns):
            result[:, role] = values[:, place]
        return result


def _whole(weights: NDArray[np.float32]) -> NDArray[np.int32]:
    """Weights as whole numbers, in the units of the kernels."""
    clipped = np.clip(weights, -MOST_WEIGHT, MOST_WEIGHT)
    return np.ascontiguousarray(np.rint(clipped * SCALE), np.int32)


def values_by(
    known: GameKnowledge, names: CanonicalNames, machine: PropnetMachine, derive: Derive = derived_network
) -> StateValues:
    """The values of the states of a machine's game by what is known of it; ``derive`` makes the network of
    derived propositions. Raises KnowledgeError where the knowledge does not fit the game's roles,
    propositions or relations, and what ``derive`` raises."""
    network = machine.network
    roles = [names.key(role) for role in network.roles]
    if not set(known.columns) <= set(roles) or not column_count_fits(len(known.columns), len(roles)):
        raise KnowledgeError("it is knowledge of other roles", remedy="train the game again")
    derived = derived_of(machine, names, known.derived, derive) if known.derived else None
    features = features_of(machine, names, None if known.tables is not None else derived)
    weights = features.arranged(known)[0]
    tuples = None
    if known.tables is not None:
        tuples = TupleTables(known.tables.tuples, network.bases, names, len(known.columns), derived)
        tuples.set_weights(known.tables.weights)
    net = None
    if known.net is not None:
        net = NetLayers(features.bits, len(known.columns))
        net.set_weights(features, features.arranged_net(known))
    columns = tuple(roles.index(column) for column in known.columns)
    values = StateValues(features.bits, len(roles), columns, tuples, net, derived)
    values.set_weights(features.weights_of_bases(weights), weights[0])
    return values


def features_of(
    machine: PropnetMachine, names: CanonicalNames, derived: DerivedPropositions | None
) -> Features:
    """The features of a machine's states, with those of derived propositions if there are any. Raises
    KnowledgeError for games that are too large."""
    bases = machine.network.bases
    if derived is None:
        return Features.of(bases, names)
    return Features.of(derived.propositions, names, len(bases))


def column_count_fits(columns: int, roles: int) -> bool:
    """Whether so many roles may have so many columns of values."""
    return columns == roles or (columns == 1 and roles == 2)


def warm_up() -> None:
    """Compile what values need."""
    names = CanonicalNames("", {})
    tuples = NTuples.of([[("a", 1)], [("b", 1)]], [2, 2], [(0, 1)], [0], [True])
    tables = TupleTables(tuples, (Term("a"), Term("b")), names, 1)
    for more in ((None, None), (tables, None), (None, NetLayers(1, 1))):
        values = StateValues(1, 1, (0,), *more)
        values.set_weights(np.zeros((1, 1), np.float32), np.zeros(1, np.float32))
        values.of(np.zeros((1, 1), np.uint64))
