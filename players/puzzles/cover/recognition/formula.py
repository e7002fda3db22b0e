"""`Formula`: conditions as a circuit with structural hashing, and its clauses (G. S. Tseitin, 1968).

`SatSearch` looks for an assignment with a CDCL solver of the package python-sat.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from gdl.errors import GdlError
from propnet.network import Network
from propnet.passes.circuit import FALSE, TRUE, CircuitBuilder

Clause = list[int]
"""Literals as in DIMACS: variable v >= 1, or -v."""

_VARIABLES = 1 << 30
"""Nodes below this one are variables, those above are gates."""


_LIMIT = 4_000_000
"""The most gates, and the most clauses, of a formula."""


class FormulaSizeError(GdlError):
    """A formula has more gates or clauses than allowed."""


class Formula:
    """Variables, gates above them, and conditions that must hold.

    A *literal* is as in a network: 2 * node + negated; 0 is true and 1 is false. Variables are nodes 1, 2,
    and so on. Raises :class:`FormulaSizeError` if it would have more than :data:`_LIMIT` gates or clauses.

    >>> formula = Formula()
    >>> a, b = formula.variable(), formula.variable()
    >>> formula.require(formula.any([a, b]))
    >>> formula.require(formula.all([a, b]) ^ 1)
    >>> formula.clauses()
    [[1, 2], [-1, -2]]
    """

    def __init__(self) -> None:
        self.variables = 0
        self.contradiction = False
        self._builder = CircuitBuilder(_VARIABLES)
        self._required: dict[int, None] = {}

    def variable(self) -> int:
        """Return a literal of a new variable."""
        self.variables += 1
        return 2 * self.variables

    def all(self, literals: Iterable[int]) -> int:
        """Return a literal for the AND of literals."""
        return self._builder.conjunction(literals)

    def any(self, literals: Iterable[int]) -> int:
        """Return a literal for the OR of literals."""
        return self._builder.conjunction([x ^ 1 for x in literals]) ^ 1

    def require(self, literal: int) -> None:
        """Add a condition that must hold."""
        waiting = [literal]
        while waiting:
            x = waiting.pop()
            if x == TRUE or x in self._required:
                continue
            if x == FALSE or x ^ 1 in self._required:
                self.contradiction = True
                return
            if x >> 1 >= _VARIABLES and not x & 1:
                waiting += reversed(self._builder.gates[(x >> 1) - _VARIABLES])
            else:
                self._required[x] = None

    def clause(self, literals: Iterable[int]) -> None:
        """Require at least one of these literals."""
        self.require(self.any(literals))

    def at_most(self, literals: Sequence[int], most: int, *, exactly: bool = False) -> None:
        """Require at most ``most`` of these literals, or exactly ``most``, by the sequential counter of C.
        Sinz, Towards an optimal CNF encoding of Boolean cardinality constraints (2005)."""
        if most >= len(literals):
            if exactly:
                for x in literals:
                    self.require(x if most == len(literals) else FALSE)
            return
        counted: list[int] = [TRUE] + [FALSE] * (most + 1)  # at least 0, 1, ... of the literals already added
        for place, x in enumerate(literals):
            left = len(literals) - place - 1
            low = max(1, most - left) if exactly else 1
            following = counted.copy()
            for count in range(low, min(most + 1, place + 1) + 1):
                following[count] = self.any([counted[count], self.all([x, counted[count - 1]])])
            counted = following
            self._bounded()
        self.require(counted[most + 1] ^ 1)
        if exactly:
            self.require(counted[most])

    def expanded(self, most: int) -> list[frozenset[int]] | None:
        """Return the conditions as clauses of variables alone, sets of literals. ORs of ANDs are multiplied
        out; None if that takes too many steps for about ``most`` clauses."""
        if self.contradiction:
            return [frozenset()]
        gates, found = self._builder.gates, dict[frozenset[int], None]()
        # Expanded literals of variables, and literals that are still to be expanded.
        waiting: list[tuple[tuple[int, ...], tuple[int, ...]]] = [((), (x,)) for x in self._required]
        for _ in range(4 * most):
            if not waiting:
                return list(found)
            done, rest = waiting.pop()
            if not rest:
                clause = frozenset(done)
                if not any(x ^ 1 in clause for x in clause):
                    found[clause] = None
                continue
            x, rest = rest[0], rest[1:]
            if x >> 1 < _VARIABLES:
                waiting.append(((*done, x), rest))
            elif x & 1:
                waiting.append((done, (*(y ^ 1 for y in gates[(x >> 1) - _VARIABLES]), *rest)))
            else:
                waiting += [(done, (y, *rest)) for y in gates[(x >> 1) - _VARIABLES]]
        return None

    def clauses(self) -> list[Clause]:
        """Return the conditions as clauses of variables. Variables past :attr:`variables` stand for gates."""
        if self.contradiction:
            return [[]]
        gates = self._builder.gates
        number: dict[int, int] = {}
        order: list[int] = []

        def numbered(literal: int) -> int:
            node = literal >> 1
            if node < _VARIABLES:
                return -node if literal & 1 else node
            if node not in number:
                number[node] = self.variables + len(number) + 1
                order.append(node)
            return -number[node] if literal & 1 else number[node]

        clauses = []
        for x in self._required:
            if x >> 1 < _VARIABLES:
                clauses.append([numbered(x)])
            else:  # the negation of an AND
                clauses.append([numbered(y ^ 1) for y in gates[(x >> 1) - _VARIABLES]])
        for node in order:  # it grows meanwhile
            inputs = [numbered(x) for x in gates[node - _VARIABLES]]
            clauses.extend([-number[node], x] for x in inputs)
            clauses.append([number[node], *(-x for x in inputs)])
        if len(clauses) > _LIMIT:
            raise FormulaSizeError("the formula of this game grows too large")
        return clauses

    def _bounded(self) -> None:
        if len(self._builder.gates) > _LIMIT:
            raise FormulaSizeError("the formula of this game grows too large")


class StateCone:
    """The values of one state of a network, as literals of a formula.

    Args:
        formula: the formula.
        network: the network; gates in loops of positive recursion have no literals here.
        inputs: the literal of each base proposition, and of each move if the requested gates depend on moves.
        reads: the result of :func:`reads_of`, to share it among many states of one network.
    """

    def __init__(
        self,
        formula: Formula,
        network: Network,
        inputs: Mapping[int, int],
        reads: list[list[int]] | None = None,
    ) -> None:
        self._formula = formula
        self._reads = reads_of(network) if reads is None else reads
        self._first = network.first_gate
        self._known: dict[int, int] = {0: TRUE, **inputs}

    def literal(self, literal: int) -> int:
        """Return the formula's literal for a literal of the network."""
        literals, reads, first = self._known, self._reads, self._first
        waiting = [literal >> 1]
        while waiting:
            node = waiting[-1]
            if node in literals:
                waiting.pop()
                continue
            read = reads[node - first]
            missing = [x >> 1 for x in read if x >> 1 not in literals]
            if missing:
                waiting += missing
                continue
            literals[node] = self._formula.all([literals[x >> 1] ^ (x & 1) for x in read])
            waiting.pop()
        return literals[literal >> 1] ^ (literal & 1)


def reads_of(network: Network) -> list[list[int]]:
    """Return the literals that each gate reads."""
    starts, inputs = network.gate_start.tolist(), network.gate_inputs.tolist()
    return [inputs[low:high] for low, high in pairwise(starts)]


_FIRST_BUDGET = 50
_LARGEST_BUDGET = 200_000


def available() -> bool:
    """Return whether the package is installed, without loading it."""
    return importlib.util.find_spec("pysat") is not None


class SatSearch:
    """Looks for an assignment that satisfies clauses, in slices of time.

    It keeps learnt clauses between slices. Close it when done.

    Attributes:
        answer: whether there is one; None while unknown.
        model: the variables that are true in it.

    Raises:
        GdlError: python-sat is not installed.
    """

    def __init__(self, clauses: Iterable[Sequence[int]]) -> None:
        try:
            from pysat.solvers import Solver
        except ImportError:
            raise GdlError(
                "python-sat is not installed", remedy="install it with: pip install python-sat"
            ) from None
        self.answer: bool | None = None
        self.model: frozenset[int] = frozenset()
        self._solver: Any = Solver(name="glucose42")
        self._budget = _FIRST_BUDGET
        for clause in clauses:
            if not clause:
                self.answer = False
            self._solver.add_clause(clause)

    def add(self, clause: Sequence[int]) -> None:
        """Add a clause. The answer becomes unknown again, unless it was no."""
        self._solver.add_clause(clause)
        if self.answer:
            self.answer = None

    def step(self, deadline: float) -> bool:
        """Search until about the deadline (time.monotonic() seconds); returns whether the answer is open."""
        while self.answer is None and (now := time.monotonic()) < deadline:
            self._solver.conf_budget(self._budget)
            self.answer = self._solver.solve_limited()
            if self.answer:
                self.model = frozenset(x for x in self._solver.get_model() if x > 0)
            taken = max(1e-6, time.monotonic() - now)
            # As many conflicts as fit into the time left, by the last budget; the number grows slowly.
            fit = self._budget * (deadline - time.monotonic()) / taken
            self._budget = max(_FIRST_BUDGET, min(_LARGEST_BUDGET, 2 * self._budget, int(fit)))
        return self.answer is None

    def close(self) -> None:
        """Free its memory."""
        self._solver.delete()
