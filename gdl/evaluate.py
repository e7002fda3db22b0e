"""Bottom-up evaluation of flat Datalog: each stratum becomes one generated Python function.

Relations are sets of rows. Those that depend on nothing are computed once; those that depend
on the state (and the moves) are computed when a rule in need of them asks, and kept in the
tables of that state (move). Inside recursive strata the evaluation is semi-naive.
"""

from __future__ import annotations

import ast
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from gdl.errors import TooLargeError
from gdl.joins import FunctionWriter, Kind, Match, Path, row, value, variables
from gdl.magic import Call, rewrite
from gdl.program import FlatAtom, FlatClause, Program
from gdl.stratify import Dependence, Stratum
from gdl.terms import DOES, TRUE, Term

Rows = Any
"""A relation: a bool for arity 0, else a set of ints (arity 1) or of tuples."""

Tables = list[Any]
"""What is known of one state or joint move, by slot; None where it was not computed yet."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Where hostile rules are stopped.

    Attributes:
        rows: rows of all relations that one question needs.
        seconds: for one question (legal, next, ...), or for all static relations.
        depth: nesting of function terms.
        terms: different terms that the rules may build.
    """

    rows: int = 2_000_000
    seconds: float = 60.0
    depth: int = 200
    terms: int = 1_000_000


DEMAND_ROWS = 3000
"""A dynamic relation that has more rows is computed key by key where it can be."""

CALL_WORK = 12.0
"""What a call for one key costs besides its loops, in loop iterations."""

MAX_CHAIN = 100
"""Relations that depend on each other over more steps are computed from the bottom."""

INDEX_WORK = 6.0
"""What a row of a relation costs besides the loops that find it."""

FIXPOINT_WORK = 16.0
"""What a row of a recursive relation costs altogether."""

SHARE = 0.3
"""How much of the cost of the relations that a relation reads is put down to it."""

MAGIC_WORK = 50.0
"""What a call costs in addition where it must run a fixpoint."""

CHAIN = 2.0
"""Calls of a recursive predicate that one call leads to."""

STATIC_ROWS = 150_000
STATIC_SECONDS = 1.0
"""A static stratum that goes beyond this is treated as a dynamic one."""


class _MoreRowsError(Exception):
    """A relation has more rows than the generated code was made for."""


class _CyclicError(Exception):
    """A key was asked for again while it was being computed."""

    def __init__(self, call: Call) -> None:
        super().__init__(call)
        self.call = call


class _Busy:
    """What a lazy path holds for a key that is being computed: any use of it is a cycle."""

    def __init__(self, call: Call) -> None:
        self.call = call

    def __bool__(self) -> bool:
        raise _CyclicError(self.call)

    def __iter__(self) -> Iterator[Any]:
        raise _CyclicError(self.call)


RECOVERABLE = (_MoreRowsError, _CyclicError, RecursionError, IndexError, MemoryError, TooLargeError)
"""What generated code may raise; :meth:`Evaluator.recover` knows what to do about it."""


class Evaluator:
    """Evaluates the strata of a program on demand.

    Args:
        program: the flat clauses.
        strata: all its strata in order.
        limits: see :class:`Limits`.

    Raises:
        TooLargeError: the static relations go beyond the limits.
    """

    def __init__(self, program: Program, strata: list[Stratum], limits: Limits) -> None:
        self.program = program
        self.limits = limits
        self.strata = strata
        count = len(program.predicates)
        self.arity = [p.arity for p in program.predicates]
        self.level = [Dependence.STATIC] * count
        self.stratum: list[Stratum | None] = [None] * count
        self.chain = [0] * count
        for stratum in strata:
            read = {a.predicate for c in stratum.clauses for a in (*c.positives, *c.negatives)}
            chain = 1 + max((self.chain[p] for p in read), default=0)
            for p in stratum.predicates:
                self.level[p] = stratum.dependence
                self.stratum[p] = stratum
                self.chain[p] = chain
        self.given = [p.name in (TRUE, DOES) for p in program.predicates]
        self.namespace: dict[str, Any] = {"tick": self._tick, "many": self._many, "build": self._build}
        self.namespace.update(take=self._take, defaultdict=defaultdict, new=_new)
        self.static: dict[int, Rows] = {}
        self._paths: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Path] = {}
        self._slots: tuple[list[Any], list[Any]] = ([], [])
        self._slot: dict[str, int] = {}
        self._functors: dict[str, int] = {}
        self._functor_names: list[str] = []
        self._numbers = 0
        self._most = 1000
        self._rows = 0
        self._deadline = 0.0
        self._distinct: dict[int, list[int]] = {}
        self.sizes: dict[int, tuple[float, list[float]]] = {}
        self._local: dict[int, Path] = {}
        self._local_indexes: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Path] = {}
        self._constants: Counter[tuple[int, tuple[int, ...]]] = Counter(
            (a.predicate, tuple([c for c, arg in enumerate(a.args) if arg >= 0]))
            for clause in program.clauses
            for a in clause.positives
        )
        self._demanded: set[int] = set()
        self._cyclic: set[Call] = set()
        self._shallow = False
        self._counting = False
        self._asked: dict[int, float] = {}
        self._calls: dict[tuple[int, tuple[int, ...], tuple[int, ...]], float] = {}
        self._lazy: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Path] = {}
        self._guesses: dict[int, float] = {}
        self._whole: dict[int, float] = {}
        self._limit_rows = limits.rows
        self._limit_seconds = limits.seconds
        for stratum in strata:
            if stratum.dependence is Dependence.STATIC:
                self._try_static(stratum)
        for p in range(count):
            if self.level[p] is not Dependence.STATIC:
                self.path(p, (), tuple(range(self.arity[p])))

    # --- asking --------------------------------------------------------------------------
    def state_tables(self) -> Tables:
        """Tables of a state in which nothing is true."""
        return self._slots[0].copy()

    def move_tables(self) -> Tables:
        """Tables of a joint move that consists of nothing."""
        return self._slots[1].copy()

    def slot(self, predicate: int) -> int:
        """Where the tables have a dynamic relation."""
        return self._slot[self.path(predicate, (), tuple(range(self.arity[predicate]))).name]

    def rows(self, predicate: int, state: Tables, move: Tables | None = None) -> Rows:
        """The relation in this state (and move), out of the tables or computed now.

        Raises:
            TooLargeError: it goes beyond the limits.
        """
        level = self.level[predicate]
        if level is Dependence.STATIC:
            return self.static[predicate]
        if move is None and level is Dependence.MOVE:
            move = self.move_tables()
        tables = state if level is Dependence.STATE else move
        assert tables is not None
        slot = self.slot(predicate)
        while True:
            try:
                found = tables[slot]
                if found is None:
                    self.begin()
                    if self.chain[predicate] > MAX_CHAIN:
                        self._in_order(predicate, state, move)
                    found = self._call(predicate, state, move)
                return found
            except RECOVERABLE as error:
                self.recover(error, state, move)

    def begin(self) -> None:
        """A new question: time and rows are counted from here."""
        self._rows = 0
        self._deadline = 0.0

    def recover(self, error: BaseException, state: Tables, move: Tables | None) -> None:
        """Make ready to ask again after generated code has raised one of RECOVERABLE.

        Raises:
            TooLargeError: asking again would not help.
        """
        grown = False
        for tables, slots in zip((state, move), self._slots, strict=True):
            if tables is not None:
                grown = grown or len(tables) < len(slots)
                tables.extend(slots[len(tables) :])
                for slot, given in enumerate(slots):
                    if given is None:  # some of what was derived may be half done
                        tables[slot] = None
        match error:
            case _MoreRowsError():
                self._forget_code()
            case _CyclicError(call=call):
                self._cyclic.add(call)
                self._forget_code()
            case RecursionError() if not self._shallow:
                self._shallow = True
                self._forget_code()
            case RecursionError():
                raise TooLargeError("the rules are nested too deeply to be evaluated") from None
            case IndexError() if grown:  # tables from before some slots were made
                pass
            case MemoryError():
                raise TooLargeError("the rules need more memory than there is") from None
            case _:
                raise error

    def _call(self, predicate: int, state: Tables, move: Tables | None) -> Rows:
        tables = state if self.level[predicate] is Dependence.STATE else move
        assert tables is not None
        found = tables[self.slot(predicate)]
        if found is None:
            maker = self.namespace[f"g{predicate}"]
            found = maker(state) if tables is state else maker(state, move)
        return found

    def _in_order(self, predicate: int, state: Tables, move: Tables | None) -> None:
        """Evaluate what a predicate depends on from the bottom, so that calls stay shallow."""
        cone = {predicate}
        for stratum in reversed(self.strata):
            if not cone.isdisjoint(stratum.predicates):
                cone.update(a.predicate for c in stratum.clauses for a in (*c.positives, *c.negatives))
        for stratum in self.strata:
            for p in stratum.predicates:
                if p in cone and not self.given[p] and self.level[p] is not Dependence.STATIC:
                    self._call(p, state, move)

    def measure(self, samples: list[Tables]) -> None:
        """Plan anew by the sizes that relations have in some states."""
        for predicate in range(len(self.program.predicates)):
            if self.level[predicate] is not Dependence.STATE:
                continue
            slot = self.slot(predicate)
            found = [t[slot] for t in samples if len(t) > slot and t[slot] is not None]
            if not found:
                continue
            arity = self.arity[predicate]
            if arity == 0:
                self.sizes[predicate] = (sum(found) / len(found), [])
                continue
            size = sum(map(len, found)) / len(found)
            distinct = []
            for column in range(arity):
                values = [len(set(project(rows, (column,)))) for rows in found]
                distinct.append(max(1.0, sum(values) / len(values)))
            self.sizes[predicate] = (size, distinct)
        self._forget_code()

    def count_calls(self) -> None:
        """From now until :meth:`measure_calls` compute all relations key by key, to see how
        many keys are asked for."""
        self._counting = True
        self._forget_code()

    def measure_calls(self, samples: list[Tables]) -> None:
        """Plan anew by the numbers of keys that were asked for in some states."""
        self._counting = False
        self._forget_code()
        self._asked = {}
        for (predicate, keys, _), path in self._lazy.items():
            if self.level[predicate] is not Dependence.STATE:
                continue
            slot = int(path.name[1:])
            found = [t[slot] for t in samples if len(t) > slot and t[slot] is not None]
            calls = sum(map(len, found)) / max(1, len(samples))
            if calls:
                work = calls * (self._once(predicate, keys) + CALL_WORK)
                self._asked[predicate] = self._asked.get(predicate, 0.0) + work

    # --- what generated code calls -----------------------------------------------------------
    def _tick(self, rows: int, predicate: int) -> int:
        """Look at the limits; how many ticks there are until the next look."""
        now = time.monotonic()
        if not self._deadline:
            self._deadline = now + self._limit_seconds
        if rows > DEMAND_ROWS:
            self._demand(predicate)
        if now > self._deadline:
            raise TooLargeError(
                f"a question took more than {self._limit_seconds:g} seconds", remedy="use smaller relations"
            )
        if rows + self._rows > self._limit_rows:
            raise TooLargeError(f"a relation has more than {self._limit_rows} rows")
        return 16

    def _demand(self, predicate: int) -> None:
        """From now on compute a large relation key by key where that is possible."""
        if predicate >= 0 and predicate not in self._demanded:
            stratum = self.stratum[predicate]
            assert stratum is not None
            self._demanded.update(stratum.predicates)
            raise _MoreRowsError

    def _threshold(self, predicate: int) -> int:
        """The rows from which on a relation must be reported to :meth:`_many`."""
        if predicate < 0 or predicate in self._demanded:
            return self._most
        return min(self._most, DEMAND_ROWS)

    def _many(self, rows: int, predicate: int) -> None:
        """Called for each relation of more rows than the code was made for, and at each round
        of a fixpoint that has grown beyond that."""
        self._rows += rows
        self._tick(rows, predicate)
        self._rows += rows
        if rows > self._most:
            while self._most < rows:
                self._most *= 8
            raise _MoreRowsError

    def _build(self, functor: int, args: tuple[int, ...]) -> int:
        table = self.program.table
        term = Term(self._functor_names[functor], *[table.terms[a] for a in args])
        if term.depth > self.limits.depth or len(table) > self.limits.terms:
            raise TooLargeError("the rules build terms without end", remedy="bound the recursion")
        return table.id(term)

    def _take(self, functor: int, arity: int, number: int) -> tuple[int, ...] | None:
        table = self.program.table
        term = table.terms[number]
        if len(term.args) != arity or term.name != self._functor_names[functor]:
            return None
        return tuple([table.id(a) for a in term.args])

    # --- what the writer asks (joins.Relations) ------------------------------------------------
    def fresh(self) -> int:
        """A number for a new function."""
        self._numbers += 1
        return self._numbers

    def functor(self, name: str) -> int:
        """The number of a functor."""
        if name not in self._functors:
            self._functors[name] = len(self._functor_names)
            self._functor_names.append(name)
        return self._functors[name]

    def path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> Path:
        """See :class:`gdl.joins.Relations`."""
        if predicate in self._local:
            return self._local_path(predicate, keys, values)
        known = self._paths.get((predicate, keys, values))
        if known is None:
            if self.level[predicate] is Dependence.STATIC:
                known = self._static_path(predicate, keys, values)
            else:
                known = self._dynamic_path(predicate, keys, values)
            self._paths[predicate, keys, values] = known
        return known

    def fan(self, predicate: int, keys: tuple[int, ...]) -> float:
        """See :class:`gdl.joins.Relations`."""
        distinct: list[float]
        if predicate in self.static:
            size = self.size(predicate)
            distinct = list(map(float, self._distinct_values(predicate)))
        elif predicate in self.sizes and predicate not in self._local:
            size, distinct = self.sizes[predicate]
        else:
            arity = self.arity[predicate]
            size = 20.0 if predicate in self._local else self.size(predicate)
            return float(size ** (1 - len(keys) / arity)) if arity else min(1.0, size)
        groups = 1.0
        for column in keys:
            groups *= max(distinct[column], 1.0)
        return size / groups

    def size(self, predicate: int) -> float:
        """How many rows a relation is expected to have."""
        if predicate in self.static:
            return float(len(self.static[predicate])) if self.arity[predicate] else 1.0
        if predicate in self.sizes:
            return self.sizes[predicate][0]
        if self.given[predicate]:
            return 1.5 if self.program.predicates[predicate].name == DOES else 10.0
        if not self._guesses:
            self._guesses[-1] = 0.0
            for stratum in self.strata:  # from the bottom, so that this does not recur deeply
                for p in stratum.predicates:
                    self.size(p)
                    self._whole_work(p)
        if predicate not in self._guesses:
            self._guesses[predicate] = 50.0
            stratum = self.stratum[predicate]
            if stratum is not None:
                members = frozenset(stratum.predicates if stratum.recursive else ())
                rows = float(len(self.program.facts.get(predicate, ())))
                for clause in stratum.clauses:
                    if clause.head.predicate == predicate or members:
                        base = not any(a.predicate in members for a in clause.positives)
                        rows += self._work(clause, frozenset())[1] if base else 0.0
                rows *= 3.0 if members else 1.0
                self._guesses[predicate] = min(rows, 1e9) if self.arity[predicate] else min(rows, 0.5)
        return self._guesses[predicate]

    def _work(self, clause: FlatClause, bound: frozenset[int]) -> tuple[float, float]:
        """Loop iterations and matches that evaluating a clause is expected to take, given the
        values of some variables."""
        rows = work = 1.0
        left = list(clause.positives)
        while left:
            best = 0
            least = 0.0
            for i, atom in enumerate(left):
                keys = tuple([c for c, a in enumerate(atom.args) if a >= 0 or a in bound])
                fan = self.fan(atom.predicate, keys)
                if i == 0 or fan < least:
                    best, least = i, fan
            rows *= least
            work += rows
            bound |= variables(left.pop(best).args)
        return work, rows

    def effort(self, predicate: int) -> int:
        """See :class:`gdl.joins.Relations`."""
        return 1 if predicate in self.static else 2 if self.given[predicate] else 3

    def lazy(
        self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...], calls: float
    ) -> Path | None:
        """See :class:`gdl.joins.Relations`."""
        if not keys or predicate in self._local or predicate in self.static or self.given[predicate]:
            return None
        key = predicate, keys, values
        if predicate not in self._demanded and not self._cheaper(predicate, keys, calls):
            return None
        self._calls[key] = self._calls.get(key, 0.0) + calls
        if key not in self._lazy:
            move = self.level[predicate] is Dependence.MOVE
            slots = self._slots[move]
            number = len(slots)
            slots.append(None)
            name = f"{'e' if move else 'l'}{number}"
            table, parameters = ("D", "M, D") if move else ("M", "M")
            function = f"q{name}"
            self._lazy[key] = Path(
                name, Kind.LAZY, f"{name} = {table}[{number}]", f"new({table}, {number})", f"{function}({parameters}, "
            )
            self._stub(function, lambda: self._compile_lazy(key))
        return self._lazy[key]

    def _cheaper(self, predicate: int, keys: tuple[int, ...], calls: float) -> bool:
        """Whether so many calls are expected to be cheaper than the whole relation."""
        stratum = self.stratum[predicate]
        assert stratum is not None
        if stratum.recursive and self.size(predicate) > DEMAND_ROWS:
            return True
        if self._counting:
            return True
        if predicate in self._asked:
            return self._asked[predicate] < self._whole_work(predicate)
        if stratum.recursive:
            calls *= CHAIN
        return calls * (self._once(predicate, keys) + CALL_WORK) < self._whole_work(predicate)

    def _once(self, predicate: int, keys: tuple[int, ...]) -> float:
        """Loop iterations that computing the rows of one key is expected to take."""
        stratum = self.stratum[predicate]
        assert stratum is not None
        once = 0.0
        if stratum.recursive and (self._shallow or (predicate, keys) in self._cyclic):
            once += MAGIC_WORK
        for clause in stratum.clauses:
            if clause.head.predicate == predicate:
                once += self._work(clause, variables([clause.head.args[c] for c in keys]))[0]
        return once

    def _whole_work(self, predicate: int) -> float:
        """What computing a whole relation is expected to cost, in loop iterations, with a
        share of what it reads."""
        if predicate in self.static or self.given[predicate]:
            return 0.0
        if predicate not in self._whole:
            stratum = self.stratum[predicate]
            assert stratum is not None
            self._whole[predicate] = 0.0
            if stratum.recursive:
                work = FIXPOINT_WORK * self.size(predicate)
            else:
                work = INDEX_WORK * self.size(predicate)
                work += sum(self._work(c, frozenset())[0] for c in stratum.clauses)
            read = {a.predicate for c in stratum.clauses for a in (*c.positives, *c.negatives)}
            work += SHARE * sum(map(self._whole_work, sorted(read)))
            self._whole[predicate] = min(work, 1e9)
        return self._whole[predicate]

    def most(self, predicate: int, keys: tuple[int, ...]) -> int:
        """See :class:`gdl.joins.Relations`."""
        if predicate in self.static:
            return len(self.static[predicate]) if self.arity[predicate] else 1
        return self._most if not keys else self._most // 4

    def scanned(self, predicate: int, keys: tuple[int, ...]) -> bool:
        """See :class:`gdl.joins.Relations`."""
        if predicate in self.static:
            return False
        return not keys or self._constants[predicate, keys] <= 2

    def _distinct_values(self, predicate: int) -> list[int]:
        found = self._distinct.get(predicate)
        if found is None:
            rows = self.static[predicate]
            arity = self.arity[predicate]
            if arity <= 1:
                found = [len(rows)] * arity if arity else []
            else:
                found = [len({r[c] for r in rows}) for c in range(arity)]
            self._distinct[predicate] = found
        return found

    # --- paths -------------------------------------------------------------------------------
    def _static_path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> Path:
        rows = self.static[predicate]
        arity = self.arity[predicate]
        name = f"s{len(self._paths)}"
        kind = Kind.ROWS
        made: Any
        if not values and not keys:
            made = bool(rows)
        elif not keys:
            made = rows if len(values) == arity else set(project(rows, values))
        else:
            lists: dict[Any, list[Any]] = {}
            pairs: Iterable[tuple[Any, Any]] = zip(project(rows, keys), project(rows, values), strict=True)
            if len(keys) + len(values) < arity:
                pairs = dict.fromkeys(pairs)
            for key, value in pairs:
                lists.setdefault(key, []).append(value)
            if all(len(found) == 1 for found in lists.values()):
                kind = Kind.VALUES
                made = {key: found[0] for key, found in lists.items()}
            else:
                kind = Kind.LISTS
                made = lists
        self.namespace[name] = made
        return Path(name, kind)

    def _dynamic_path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> Path:
        arity = self.arity[predicate]
        whole = not keys and len(values) == arity
        move = self.level[predicate] is Dependence.MOVE
        slots = self._slots[move]
        number = len(slots)
        letter = "d" if move else "m"
        name = f"{letter}{number}"
        self._slot[name] = number
        loader = f"{name} = {'D' if move else 'M'}[{number}]"
        parameters = "M, D" if move else "M"
        if whole:
            if self.given[predicate]:
                slots.append(set() if arity else False)
                return Path(name, Kind.ROWS, loader)
            slots.append(None)
            function = f"g{predicate}"
            self._stub(function, lambda: self._compile_stratum(predicate))
        else:
            slots.append(None)
            function = f"p{letter}{number}"
            self._stub(function, lambda: self._compile_path(predicate, keys, values, function, number))
        kind = Kind.LISTS if keys else Kind.ROWS
        return Path(name, kind, loader, f"{function}({parameters})")

    def _stub(self, function: str, compile_it: Callable[[], None]) -> None:
        """Put a function into the namespace that compiles its successor when first called."""

        def stub(*arguments: Any) -> Rows:
            compile_it()
            for mine, slots in zip(arguments, self._slots, strict=False):
                if isinstance(mine, list) and len(mine) < len(slots):
                    mine.extend(slots[len(mine) :])
            return self.namespace[function](*arguments)

        self.namespace[function] = stub

    def _forget_code(self) -> None:
        """Generate all code anew when it is next needed."""
        for predicate, level in enumerate(self.level):
            if level is not Dependence.STATIC and not self.given[predicate]:
                self._stub(f"g{predicate}", lambda p=predicate: self._compile_stratum(p))
        for key, path in self._lazy.items():
            self._stub(f"q{path.name}", lambda key=key: self._compile_lazy(key))
        self._calls.clear()
        self._guesses.clear()
        self._whole.clear()

    def _compile_path(
        self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...], function: str, number: int
    ) -> None:
        """The function that makes an index or a projection of a dynamic relation."""
        arity = self.arity[predicate]
        whole = self.path(predicate, (), tuple(range(arity)))
        table = "D" if self.level[predicate] is Dependence.MOVE else "M"
        lines = [f"def {function}({'M, D' if table == 'D' else 'M'}):", f" {whole.loader}"]
        if whole.maker:
            lines.append(f" if {whole.name} is None: {whole.name} = {whole.maker}")
        columns = [f"v{c}" if c in keys or c in values else "_" for c in range(arity)]
        targets = ", ".join(columns)
        key, found = row([-1 - c for c in keys]), row([-1 - c for c in values])
        if not keys and not values:
            lines.append(f" o = bool({whole.name})")
        elif not keys:
            lines.append(f" o = {{{found} for {targets} in {whole.name}}}")
        else:
            partial = len(keys) + len(values) < arity
            lines.append(f" o = defaultdict({'set' if partial else 'list'})")
            add = "add" if partial else "append"
            lines.append(f" for {targets} in {whole.name}: o[{key}].{add}({found})")
        lines += [f" {table}[{number}] = o", " return o"]
        self._execute(lines)

    # --- strata --------------------------------------------------------------------------------
    def _try_static(self, stratum: Stratum) -> None:
        """Compute the relations of a static stratum; one that is too large, or reads such a
        one, becomes dynamic."""
        read = {a.predicate for c in stratum.clauses for a in (*c.positives, *c.negatives)}
        rows = self._rows
        if all(p in self.static or p in stratum.predicates for p in read):
            self._limit_rows, self._limit_seconds = rows + STATIC_ROWS, STATIC_SECONDS
            self._deadline = 0.0
            try:
                self._evaluate_static(stratum)
                return
            except TooLargeError:
                self._demanded.update(stratum.predicates)
            finally:
                self._limit_rows, self._limit_seconds = self.limits.rows, self.limits.seconds
        self._rows = rows
        for p in stratum.predicates:
            self.static.pop(p, None)
            self._distinct.pop(p, None)
            self.level[p] = Dependence.STATE

    def _evaluate_static(self, stratum: Stratum) -> None:
        """Compute the relations of a static stratum."""
        for p in stratum.predicates:
            facts = self.program.facts.get(p, ())
            self.static[p] = self._relation(p, facts)
            self._rows += len(facts)
        if not stratum.clauses:
            return
        while True:
            try:
                function = f"i{self.fresh()}"
                lines = self._stratum_function(stratum, function, "")
                self._execute(lines)
                found = self.namespace.pop(function)()
                break
            except _MoreRowsError:
                continue
        for p, rows in zip(stratum.predicates, found, strict=True):
            self.static[p] = rows
            self._distinct.pop(p, None)
            self._rows += len(rows) if self.arity[p] else 1
        self._tick(0, -1)

    def _relation(self, predicate: int, facts: Iterable[tuple[int, ...]]) -> Rows:
        arity = self.arity[predicate]
        if arity == 0:
            return bool(facts)
        if arity == 1:
            return {r[0] for r in facts}
        return set(facts)

    def _compile_stratum(self, predicate: int) -> None:
        """Generate the function that computes a dynamic stratum."""
        stratum = self.stratum[predicate]
        assert stratum is not None
        parameters = "M, D" if self.level[stratum.predicates[0]] is Dependence.MOVE else "M"
        for p in stratum.predicates:
            self._execute(self._stratum_function(stratum, f"g{p}", parameters, p))

    def _stratum_function(
        self, stratum: Stratum, name: str, parameters: str, wanted: int | None = None
    ) -> list[str]:
        if stratum.recursive:
            return self._recursive_function(stratum, name, parameters, wanted)
        (predicate,) = stratum.predicates
        writer = FunctionWriter(self, parameters)
        writer.predicate = -1 if wanted is None else predicate
        arity = self.arity[predicate]
        facts = self.program.facts.get(predicate)
        table = "D" if self.level[stratum.predicates[0]] is Dependence.MOVE else "M"
        store = "" if wanted is None else f"{table}[{self.slot(predicate)}] = "
        if arity == 0:
            value = "(True,)" if wanted is None else "True"
            if facts:
                return writer.function(name, [f"{store and store + 'True'}", f"return {value}"])

            def leave() -> None:
                if store:
                    writer.line(f"{store}True")
                writer.line(f"return {value}")

            match = Match(leave, leaves=True)
            for clause in stratum.clauses:
                writer.clause(clause, match, one=True)
            end = [f"{store}False"] if store else []
            end.append("return (False,)" if wanted is None else "return False")
            return [*writer.helpers, *writer.function(name, [], end)]
        writer.size = "len(o)"
        for clause in stratum.clauses:
            head = row(clause.head.args)
            match = Match(
                lambda head=head: writer.line(f"add({head})"),
                fresh=lambda head=head: f"{head} not in o",
                row=clause.head.args,
                all_of=lambda name: writer.line(f"o |= {name}"),
            )
            writer.clause(clause, match)
        start = [f"o = set({self._global(self._relation(predicate, facts))})" if facts else "o = set()"]
        start.append("add = o.add")
        end = [f"if len(o) > {self._threshold(writer.predicate)}: many(len(o), {writer.predicate})"]
        if store:
            end.append(f"{store}o")
        end.append("return (o,)" if wanted is None else "return o")
        return [*writer.helpers, *writer.function(name, start, end)]

    def _compile_lazy(self, key: tuple[int, tuple[int, ...], tuple[int, ...]]) -> None:
        """Generate the function that computes the rows of one key."""
        predicate, keys, values = key
        path = self._lazy[key]
        stratum = self.stratum[predicate]
        assert stratum is not None
        move = self.level[predicate] is Dependence.MOVE
        if stratum.recursive and (self._shallow or (predicate, keys) in self._cyclic):
            self._execute(self._magic_function(stratum, key))
            return
        writer = FunctionWriter(self, f"{'M, D' if move else 'M'}, k")
        facts: dict[Any, Any] = {}
        for fact in self.program.facts.get(predicate, ()):
            asked = row([fact[c] for c in keys])
            facts.setdefault(_evaluated(asked), set()).add(_evaluated(row([fact[c] for c in values])))
        store = f"{'D' if move else 'M'}[{path.name[1:]}][k] = "
        if stratum.recursive:
            self.namespace[f"b{path.name}"] = _Busy((predicate, keys))
            start_lines = [f"{store}b{path.name}"]
        else:
            start_lines = []
        parts = ["k"] if len(keys) == 1 else [f"k{i}" for i in range(len(keys))]
        start = [*start_lines] if len(keys) == 1 else [*start_lines, f"{', '.join(parts)} = k"]
        if values:
            start.append(f"o = set({self._global(facts)}.get(k, ()))" if facts else "o = set()")
            start.append("add = o.add")
            writer.size = "len(o)"
        elif facts:
            start.append(f"if k in {self._global(facts)}:")
            start += [f" {store}True", " return True"]
        for clause in stratum.clauses:
            if clause.head.predicate != predicate:
                continue  # another member of a mutual recursion
            self._lazy_clause(writer, clause, keys, values, parts, store, self._calls.get(key, 1.0))
        end = [f"{store}o", "return o"] if values else [f"{store}False", "return False"]
        self._execute([*writer.helpers, *writer.function(f"q{path.name}", start, end)])

    @staticmethod
    def _lazy_clause(
        writer: FunctionWriter,
        clause: FlatClause,
        keys: tuple[int, ...],
        values: tuple[int, ...],
        parts: list[str],
        store: str,
        calls: float,
    ) -> None:
        bound: set[int] = set()
        indent = writer.indent
        conditions: list[str] = []
        for column, part in zip(keys, parts, strict=True):
            arg = clause.head.args[column]
            if arg < 0 and arg not in bound:
                writer.line(f"{value(arg)} = {part}")
                bound.add(arg)
            else:
                conditions.append(f"{part} == {value(arg)}")
        if conditions:
            writer.line(f"if {' and '.join(conditions)}:")
            writer.indent += 1
        found = [clause.head.args[c] for c in values]
        result = row(found)

        def leave() -> None:
            writer.line(f"{store}True")
            writer.line("return True")

        if values:
            match = Match(lambda: writer.line(f"add({result})"), fresh=lambda: f"{result} not in o")
        else:
            match = Match(leave, leaves=True)
        writer.clause(
            clause, match, one=not values, bound=frozenset(bound), needed=variables(found), calls=calls
        )
        writer.indent = indent

    def _global(self, thing: Any) -> str:
        name = f"c{self.fresh()}"
        self.namespace[name] = thing
        return name

    def _execute(self, lines: list[str]) -> None:
        source = "\n".join(lines)
        exec(compile(source, "<rules>", "exec"), self.namespace)  # the source is ours: numbers only

    # --- recursion -----------------------------------------------------------------------------
    def _local_path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> Path:
        if not keys and len(values) == self.arity[predicate]:
            return self._local[predicate]
        known = self._local_indexes.get((predicate, keys, values))
        if known is None:
            kind = Kind.LISTS if keys else Kind.ROWS
            known = Path(f"x{len(self._local_indexes)}", kind)
            self._local_indexes[predicate, keys, values] = known
        return known

    def _recursive_function(
        self, stratum: Stratum, name: str, parameters: str, wanted: int | None
    ) -> list[str]:
        """Semi-naive: each round joins the rows that the last round found with all rows."""
        members = stratum.predicates
        writer = FunctionWriter(self, parameters)
        self._local = {p: Path(f"r{p}", Kind.ROWS) for p in members}
        self._local_indexes = {}
        try:
            writer.size = " + ".join(f"len(r{p})" for p in members)
            for clause in stratum.clauses:
                if not any(a.predicate in self._local for a in clause.positives):
                    self._recursive_clause(writer, clause, "r", None)
            base = writer.lines
            writer.lines = []
            writer.indent = 2
            writer.size = " + ".join(f"len(r{p}) + len(n{p})" for p in members)
            for clause in stratum.clauses:
                for atom in clause.positives:
                    if atom.predicate in self._local:
                        self._recursive_clause(writer, clause, "n", atom)
            rounds = writer.lines
            indexes = dict(self._local_indexes)
        finally:
            self._local = {}
            self._local_indexes = {}
        start = []
        for p in members:
            facts = self.program.facts.get(p)
            relation = {()} if facts and not self.arity[p] else self._relation(p, facts) if facts else None
            start.append(f"r{p} = set({self._global(relation) if relation else ''})")
        for (_, keys, _), path in indexes.items():
            start.append(f"{path.name} = {'defaultdict(list)' if keys else 'set()'}")
        lines = list(base)
        for p in members:
            lines.append(f" e{p} = r{p}")
        lines += self._grow_indexes(indexes, 1)
        lines.append(f" while {' or '.join(f'e{p}' for p in members)}:")
        for p in members:
            lines.append(f"  n{p} = set()")
        lines += rounds
        for p in members:
            lines.append(f"  e{p} = n{p} - r{p}")
            lines.append(f"  r{p} |= e{p}")
        lines += self._grow_indexes(indexes, 2)
        total = " + ".join(f"len(r{p})" for p in members)
        who = -1 if wanted is None else wanted
        lines.append(f"  if {total} > {self._threshold(who)}: many({total}, {who})")
        end = []
        for p in members:
            result = f"r{p}" if self.arity[p] else f"bool(r{p})"
            if wanted is not None:
                table = "D" if self.level[stratum.predicates[0]] is Dependence.MOVE else "M"
                end.append(f"{table}[{self.slot(p)}] = {result}")
        if wanted is None:
            results = [f"r{p}" if self.arity[p] else f"bool(r{p})" for p in members]
            end.append(f"return ({', '.join(results)},)")
        else:
            end.append(f"return r{wanted}" if self.arity[wanted] else f"return bool(r{wanted})")
        writer.lines = lines
        return [*writer.helpers, *writer.function(name, start, end)]

    def _magic_function(
        self, stratum: Stratum, key: tuple[int, tuple[int, ...], tuple[int, ...]]
    ) -> list[str]:
        """Semi-naive evaluation of the rewritten stratum; what is asked and answered is kept
        in the tables, so that a new key only adds to it."""
        predicate, keys, values = key
        path = self._lazy[key]
        move = self.level[predicate] is Dependence.MOVE
        table, parameters = ("D", "M, D") if move else ("M", "M")
        clauses = list(stratum.clauses)
        for p in stratum.predicates:
            for fact in self.program.facts.get(p, ()):
                clauses.append(FlatClause(FlatAtom(p, fact), (), (), (), (), 0))
        magic = rewrite(
            clauses, frozenset(stratum.predicates), (predicate, keys), self.fan, self._new_predicate
        )
        seed = magic.asked[predicate, keys]
        answer = magic.answers[predicate, keys]
        members = sorted([*magic.answers.values(), *magic.asked.values()])
        writer = FunctionWriter(self, f"{parameters}, k")
        self._local = {p: Path(f"r{p}", Kind.ROWS) for p in members}
        self._local_indexes = {}
        try:
            writer.indent = 2
            writer.size = " + ".join(f"len(r{p}) + len(n{p})" for p in members)
            for clause in magic.clauses:
                for atom in clause.positives:
                    if atom.predicate in self._local:
                        self._recursive_clause(writer, clause, "n", atom)
            every = tuple(range(self.arity[answer]))
            whole = keys == every
            result = None if whole else self._local_path(answer, keys, values)
            indexes = dict(self._local_indexes)
        finally:
            self._local = {}
            self._local_indexes = {}
        slots = self._slots[move]
        number = len(slots)
        slots.append(None)
        kept = [f"r{p}" for p in members] + [x.name for x in indexes.values()]
        fresh = ["set()" for _ in members]
        fresh += ["defaultdict(list)" if x[1] else "set()" for x in indexes]
        start = [
            f"s = {table}[{number}]",
            "if s is None:",
            f" s = {table}[{number}] = ({', '.join(fresh)},)",
            f"{', '.join(kept)}, = s",
        ]
        rounds = writer.lines
        lines = [f" e{p} = set()" for p in members if p != seed]
        lines += [f" e{seed} = {{k}}", f" e{seed} -= r{seed}", f" r{seed} |= e{seed}"]
        lines += self._grow_indexes({i: x for i, x in indexes.items() if i[0] == seed}, 1)
        lines.append(f" while {' or '.join(f'e{p}' for p in members)}:")
        lines += [f"  n{p} = set()" for p in members]
        lines += rounds
        for p in members:
            lines += [f"  e{p} = n{p} - r{p}", f"  r{p} |= e{p}"]
        lines += self._grow_indexes(indexes, 2)
        total = " + ".join(f"len(r{p})" for p in members)
        lines.append(f"  if {total} > {self._most}: many({total}, -1)")
        if result is None:
            found = f"k in r{answer}"
        elif values:
            found = f"{result.name}.get(k, ())"
        else:
            found = f"k in {result.name}"
        end = [f"o = {table}[{path.name[1:]}][k] = {found}", "return o"]
        writer.lines = lines
        return [*writer.helpers, *writer.function(f"q{path.name}", start, end)]

    def _new_predicate(self, like: int, arity: int) -> int:
        """A predicate for generated clauses alone."""
        self.arity.append(arity)
        self.level.append(self.level[like])
        self.given.append(False)
        self.stratum.append(None)
        return len(self.arity) - 1

    def _recursive_clause(
        self, writer: FunctionWriter, clause: FlatClause, target: str, first: FlatAtom | None
    ) -> None:
        p = clause.head.predicate
        head = row(clause.head.args) if clause.head.args else "()"
        match = Match(
            lambda: writer.line(f"{target}{p}.add({head})"),
            fresh=lambda: f"{head} not in r{p}",
        )
        indent = writer.indent
        if first is None:
            writer.clause(clause, match)
        else:
            writer.clause(clause, match, first, Path(f"e{first.predicate}", Kind.ROWS))
        writer.indent = indent

    def _grow_indexes(
        self, indexes: dict[tuple[int, tuple[int, ...], tuple[int, ...]], Path], indent: int
    ) -> list[str]:
        """Add the new rows to the indexes of the relations that are being computed."""
        lines = []
        pad = " " * indent
        for (p, keys, values), path in indexes.items():
            columns = [f"v{c}" if c in keys or c in values else "_" for c in range(self.arity[p])]
            key, found = row([-1 - c for c in keys]), row([-1 - c for c in values])
            if not columns:
                continue
            if keys:
                lines.append(f"{pad}for {', '.join(columns)} in e{p}: {path.name}[{key}].append({found})")
            elif values:
                lines.append(f"{pad}for {', '.join(columns)} in e{p}: {path.name}.add({found})")
            else:
                lines.append(f"{pad}if e{p}: {path.name}.add(1)")
        return lines


def _new(tables: Tables, slot: int) -> dict[Any, Any]:
    """An empty memo in a slot of the tables."""
    made: dict[Any, Any] = {}
    tables[slot] = made
    return made


def _evaluated(source: str) -> Any:
    """The row that a source of numbers stands for."""
    return ast.literal_eval(source)


def project(rows: Rows, columns: tuple[int, ...]) -> list[Any]:
    """Each row's values in some columns: plain for one, else a tuple."""
    if isinstance(rows, bool):
        return [()] if rows else []
    if not columns:
        return [()] * len(rows)
    if rows and isinstance(next(iter(rows)), int):
        return list(rows)
    if len(columns) == 1:
        column = columns[0]
        return [r[column] for r in rows]
    return [tuple([r[c] for c in columns]) for r in rows]
