"""Bottom-up evaluation of flat Datalog on demand, by generated Python functions.

Relations are sets of rows. Static ones are computed once. A relation that depends on the state (and the
moves) is computed when a rule needs it, whole or key by key, and stored in the tables of that state (move).
"""

from __future__ import annotations

from gdl.compile.program import Program
from gdl.compile.stratify import Dependence, Stratum
from gdl.errors import TooLargeError
from gdl.prover.estimates import Estimates
from gdl.prover.limits import CyclicError, Guard, MoreRowsError, ProverLimits
from gdl.prover.schema import Rows, Schema, Tables, reads
from gdl.prover.strata_code import StrataCode

_MAX_CHAIN = 100  # longer chains of relations that depend on each other are computed from the bottom
_STATIC_ROWS = 150_000  # a static stratum beyond this becomes a dynamic one
_STATIC_SECONDS = 1.0  # so does one that takes longer

RECOVERABLE = (MoreRowsError, CyclicError, RecursionError, IndexError, MemoryError, TooLargeError)
"""The exceptions of generated code that :meth:`Evaluator.recover` handles."""


class Evaluator:
    """Evaluates the strata of a program on demand.

    Args:
        program: the flat clauses.
        strata: all its strata in order.
        limits: of each question, and of the static relations.
        large: names of relations that are known to be too large to be computed whole.

    Attributes:
        schema: the evaluator's knowledge of the predicates.
        relations: the access paths and the code of the relations.
        begin: call it before each direct call of generated code.

    Raises:
        TooLargeError: the static relations exceed the limits.
    """

    def __init__(
        self, program: Program, strata: list[Stratum], limits: ProverLimits, large: frozenset[str]
    ) -> None:
        self.schema = schema = Schema(program, strata)
        self._guard = Guard(schema, limits)
        self._guard.demanded.update(p.index for p in program.predicates if p.name in large)
        self._estimates = Estimates(schema, self._guard)
        self._code = StrataCode(schema, self._estimates, self._guard)
        self.relations = self._code.relations
        self.begin = self._guard.begin
        for stratum in strata:
            if stratum.dependence is Dependence.STATIC:
                self._try_static(stratum)
        for predicate in range(len(program.predicates)):
            if schema.level[predicate] is not Dependence.STATIC:
                self.relations.path(predicate, (), schema.every(predicate))

    @property
    def large_relations(self) -> list[str]:
        """The names of relations that were found to be too large to be computed whole."""
        return sorted({self.schema.program.predicates[p].name for p in self._guard.demanded})

    def state_tables(self) -> Tables:
        """Tables of a state in which nothing is true."""
        return self.relations.slots[0].copy()

    def move_tables(self) -> Tables:
        """Tables of a joint move without any move."""
        return self.relations.slots[1].copy()

    def rows(self, predicate: int, state: Tables, move: Tables | None = None) -> Rows:
        """The relation in this state (and move), from the tables or computed now. Raises TooLargeError if
        it exceeds the limits."""
        level = self.schema.level[predicate]
        if level is Dependence.STATIC:
            return self.schema.static[predicate]
        if move is None and level is Dependence.MOVE:
            move = self.move_tables()
        tables = state if level is Dependence.STATE else move
        assert tables is not None
        slot = self.relations.slot(predicate)
        while True:
            try:
                rows = tables[slot]
                if rows is None:
                    self.begin()
                    if self.schema.chain[predicate] > _MAX_CHAIN:
                        self._in_order(predicate, state, move)
                    rows = self._call(predicate, state, move)
                return rows
            except RECOVERABLE as error:
                self.recover(error, state, move)

    def recover(self, error: BaseException, state: Tables, move: Tables | None) -> None:
        """Prepare a second call after generated code has raised one of RECOVERABLE. Raises TooLargeError
        if a second call would not help."""
        grown = False
        for tables, slots, at_once in zip(
            (state, move), self.relations.slots, self.relations.at_once, strict=True
        ):
            if tables is not None:
                grown = grown or len(tables) < len(slots)
                tables.extend(slots[len(tables) :])
                for slot, first in enumerate(slots):
                    if first is None and slot not in at_once:  # the relation may be incomplete
                        tables[slot] = None
        match error:
            case MoreRowsError(predicates=predicates):
                self.relations.forget(predicates)
            case CyclicError(call=call):
                self._estimates.cyclic.add(call)
                self.relations.forget_call(call)
            case RecursionError() if not self._estimates.shallow:
                self._estimates.shallow = True
                self.relations.forget()
            case RecursionError():
                raise TooLargeError("the rules are nested too deeply to be evaluated") from None
            case IndexError() if grown:  # the tables are older than some slots
                pass
            case MemoryError():
                raise TooLargeError("the rules need more memory than is available") from None
            case _:
                raise error

    def _call(self, predicate: int, state: Tables, move: Tables | None) -> Rows:
        tables = move if self.schema.moves(predicate) else state
        assert tables is not None
        rows = tables[self.relations.slot(predicate)]
        if rows is None:
            maker = self.relations.namespace[f"g{predicate}"]
            rows = maker(state) if tables is state else maker(state, move)
        return rows

    def _in_order(self, predicate: int, state: Tables, move: Tables | None) -> None:
        """Evaluate all relations that a predicate depends on, from the bottom, so that calls stay shallow."""
        cone = {predicate}
        for stratum in reversed(self.schema.strata):
            if not cone.isdisjoint(stratum.predicates):
                cone.update(reads(stratum))
        for stratum in self.schema.strata:
            for p in stratum.predicates:
                if p in cone and not self.schema.given[p] and p not in self.schema.static:
                    self._call(p, state, move)

    def measure(self, samples: list[Tables]) -> None:
        """Plan again by the sizes that relations have in some states."""
        for predicate in range(len(self.schema.program.predicates)):
            if self.schema.level[predicate] is Dependence.STATE:
                self._estimates.measure(predicate, samples, self.relations.slot(predicate))
        self.relations.forget()

    def _try_static(self, stratum: Stratum) -> None:
        """Compute the relations of a static stratum. A stratum that is too large, or reads a dynamic
        relation, becomes dynamic."""
        schema = self.schema
        if all(p in schema.static or p in stratum.predicates for p in reads(stratum)):
            before = self._guard.rows
            self._guard.restrict(_STATIC_ROWS, _STATIC_SECONDS)
            try:
                self._compute_static(stratum)
                return
            except TooLargeError:
                self._guard.demanded.update(stratum.predicates)
                self._guard.rows = before
            finally:
                self._guard.restrict(None, 0.0)
        for p in stratum.predicates:
            schema.static.pop(p, None)
            self._estimates.forget_static(p)
            schema.level[p] = Dependence.STATE

    def _compute_static(self, stratum: Stratum) -> None:
        schema = self.schema
        for p in stratum.predicates:
            schema.static[p] = schema.relation(p, schema.facts(p))
        relations = None
        while stratum.clauses and relations is None:
            try:
                relations = self._code.static(stratum)
            except MoreRowsError:
                continue
            except (RecursionError, MemoryError):
                raise TooLargeError("the rules need more memory than is available") from None
            for p, rows in zip(stratum.predicates, relations, strict=True):
                schema.static[p] = rows
                self._estimates.forget_static(p)
        for p in stratum.predicates:
            self._guard.rows += len(schema.static[p]) if schema.arity[p] else 1
        self._guard.tick(0, -1)
