"""Slots of the tables, and the access paths that read them: indexes, projections, memos.

Paths of static relations are globals of the generated code. Those of dynamic relations are slots of the
tables, filled by a function that is compiled at its first call.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from gdl.compile.magic_sets import Call
from gdl.compile.stratify import Dependence
from gdl.prover.estimates import Estimates
from gdl.prover.limits import Guard
from gdl.prover.schema import AccessPath, Key, Rows, Schema, Tables, project, split_row


class Relations:
    """The code writer's knowledge of the relations that bodies read: access paths, sizes, costs; and the
    namespace of the generated code.

    Args:
        schema: the evaluator's knowledge of the predicates.
        estimates: of sizes and costs.
        guard: generated code calls it.
        compile_relation: defines the function that computes a whole relation.
        compile_call: defines the function that computes one key of an access.

    Attributes:
        namespace: the globals of the generated code.
        slots: the first contents of the tables of a state and of a move: None, or for ``true`` and
            ``does`` an empty relation.
        lazy: the paths that are filled key by key.
        at_once: the slots of states and of moves that are filled only when their content is complete.
        written: the number of functions compiled at their first call, in ``seconds`` of CPU time.
    """

    def __init__(
        self,
        schema: Schema,
        estimates: Estimates,
        guard: Guard,
        compile_relation: Callable[[int], None],
        compile_call: Callable[[Key], None],
    ) -> None:
        self._schema = schema
        self._estimates = estimates
        self._compile_relation = compile_relation
        self._compile_call = compile_call
        self._paths: dict[Key, AccessPath] = {}
        self._slot: dict[int, int] = {}
        self._numbers = self.written = 0
        self.seconds = 0.0
        self.namespace: dict[str, Any] = {
            "defaultdict": defaultdict, "new": _new_memo, "tick": guard.tick, "many": guard.many,
            "done": guard.done, "build": guard.build, "take": guard.take,
        }  # fmt: skip
        self.slots: tuple[list[Any], list[Any]] = ([], [])
        self.lazy: dict[Key, AccessPath] = {}
        self.at_once: tuple[set[int], set[int]] = (set(), set())
        self._compilers: dict[str, Callable[[], None]] = {}
        self._readers: defaultdict[int, set[str]] = defaultdict(set)
        """Predicate -> the functions whose code depends on knowledge of it."""
        self._asked: set[int] = set()
        """Predicates that the function being written has asked for."""
        self._local: dict[int, AccessPath] = {}
        self._local_indexes: dict[Key, AccessPath] = {}
        self._calls: dict[Key, float] = {}
        self.functor = guard.functor
        guard.outgrown = self.forget
        self.fan = estimates.fan
        self.most = estimates.most
        self.scanned = estimates.scanned

    def fresh(self) -> int:
        """A number for a new name."""
        self._numbers += 1
        return self._numbers

    def constant(self, thing: Any) -> str:
        """The name of a new global of the generated code."""
        name = f"c{self.fresh()}"
        self.namespace[name] = thing
        return name

    def new_slot(self, moves: bool, first: Any = None) -> int:
        """A new slot in the tables of states or of moves."""
        self.slots[moves].append(first)
        return len(self.slots[moves]) - 1

    def slot(self, predicate: int) -> int:
        """The slot of a dynamic relation."""
        return self._slot[predicate]

    def lazy_slot(self, key: Key) -> int:
        """The slot of a path that is filled key by key."""
        return int(self.lazy[key].name[1:])

    def table(self, predicate: int) -> str:
        """The variable of the tables that hold a predicate."""
        return "D" if self._schema.moves(predicate) else "M"

    def parameters(self, predicate: int) -> str:
        """The parameters of the functions that compute a predicate."""
        return "M, D" if self._schema.moves(predicate) else "M"

    def path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> AccessPath:
        """The access from the values of the columns ``keys`` to those of ``values``; without keys, a set of
        ``values``. All other columns are projected away."""
        key = predicate, keys, values
        self._asked.add(predicate)
        whole = not keys and len(values) == self._schema.arity[predicate]
        if predicate in self._local:
            if whole:
                return self._local[predicate]
            if key not in self._local_indexes:
                self._local_indexes[key] = AccessPath(f"x{len(self._local_indexes)}", local=True)
            return self._local_indexes[key]
        path = self._paths.get(key)
        if path is None:
            if self._schema.level[predicate] is Dependence.STATIC:
                path = self._static(key)
            elif whole:
                path = self._whole(predicate)
            else:
                path = self._derived(key)
            self._paths[key] = path
        return path

    def _static(self, key: Key) -> AccessPath:
        predicate, keys, values = key
        rows = self._schema.static[predicate]
        arity = self._schema.arity[predicate]
        single = False
        content: Any
        if not keys:
            content = rows if len(values) == arity else set(project(rows, values)) if values else bool(rows)
        else:
            lists: dict[Any, list[Any]] = {}
            pairs: Iterable[tuple[Any, Any]] = zip(project(rows, keys), project(rows, values), strict=True)
            if len(keys) + len(values) < arity:
                pairs = dict.fromkeys(pairs)
            for columns, entry in pairs:
                lists.setdefault(columns, []).append(entry)
            single = all(len(entries) == 1 for entries in lists.values())
            content = {columns: entries[0] for columns, entries in lists.items()} if single else lists
        name = f"s{self.fresh()}"
        self.namespace[name] = content
        return AccessPath(name, single=single)

    def _variable(self, predicate: int, letters: str, first: Any = None) -> tuple[int, str, str]:
        """A new slot for a relation (of states or moves), its variable, and the statement that loads it."""
        moves = self._schema.moves(predicate)
        slot = self.new_slot(moves, first)
        if letters == "md" or not self._schema.stratum(predicate).recursive:
            self.at_once[moves].add(slot)
        name = f"{letters[moves]}{slot}"
        return slot, name, f"{name} = {self.table(predicate)}[{slot}]"

    def _whole(self, predicate: int) -> AccessPath:
        given = self._schema.given[predicate]
        first: Any = None if not given else set() if self._schema.arity[predicate] else False
        self._slot[predicate], name, loader = self._variable(predicate, "md", first)
        if given:
            return AccessPath(name, loader)
        self._stub(f"g{predicate}", partial(self._compile_relation, predicate))
        return AccessPath(name, loader, f"g{predicate}({self.parameters(predicate)})")

    def _derived(self, key: Key) -> AccessPath:
        """An index or a projection of a dynamic relation."""
        predicate = key[0]
        slot, name, loader = self._variable(predicate, "md")
        self._stub(f"p{name}", partial(self._compile_derived, key, f"p{name}", slot))
        return AccessPath(name, loader, f"p{name}({self.parameters(predicate)})")

    def _compile_derived(self, key: Key, function: str, slot: int) -> None:
        predicate, keys, values = key
        arity = self._schema.arity[predicate]
        whole = self.path(predicate, (), self._schema.every(predicate))
        lines = [f"def {function}({self.parameters(predicate)}):", *(f" {text}" for text in whole.load())]
        targets, columns, result = split_row(key, arity)
        if not keys and not values:
            lines.append(f" o = bool({whole.name})")
        elif not keys:
            lines.append(f" o = {{{result} for {targets} in {whole.name}}}")
        else:
            group, add = ("set", "add") if len(keys) + len(values) < arity else ("list", "append")
            lines.append(f" o = defaultdict({group})")
            lines.append(f" for {targets} in {whole.name}: o[{columns}].{add}({result})")
        lines += [f" {self.table(predicate)}[{slot}] = o", " return o"]
        self.execute(lines)

    def lazily(self, key: Key) -> AccessPath:
        """The path that is filled key by key."""
        if key not in self.lazy:
            predicate = key[0]
            slot, name, loader = self._variable(predicate, "le")
            maker = f"new({self.table(predicate)}, {slot})"
            call = f"q{name}({self.parameters(predicate)}, "
            self.lazy[key] = AccessPath(name, loader, maker, call)
            self._stub(f"q{name}", partial(self._compile_call, key))
        return self.lazy[key]

    def execute(self, lines: list[str]) -> None:
        """Define generated functions. Their source is made of numbers and never contains the rules' text."""
        exec(compile("\n".join(lines), "<rules>", "exec"), self.namespace)

    def forget(self, predicates: Iterable[int] | None = None) -> None:
        """Recompile, at their next use and by new estimates, the relations and calls that read or compute
        these predicates; None for all."""
        if predicates is None:
            stale = {name for name in self._compilers if name[0] != "p"}
            self._calls.clear()
        else:
            stale = {name for predicate in predicates for name in self._readers.pop(predicate, ())}
        for name in stale:
            self._stub(name, self._compilers[name])
        self._estimates.forget()

    def ask(self, predicates: Iterable[int]) -> None:
        """Record that the function being written depends on knowledge of these predicates."""
        self._asked.update(predicates)

    def forget_call(self, call: Call) -> None:
        """Recompile, at their next use, the calls of these columns of this predicate."""
        for key, path in self.lazy.items():
            if key[:2] == call:
                self._stub(f"q{path.name}", self._compilers[f"q{path.name}"])

    def _stub(self, function: str, compile_it: Callable[[], None]) -> None:
        """Put a function into the namespace that compiles its successor at its first call."""

        def stub(*arguments: Any) -> Rows:
            self._asked.clear()
            begun = time.process_time()
            compile_it()
            self.written += 1
            self.seconds += time.process_time() - begun
            for predicate in self._asked:
                self._readers[predicate].add(function)
            for tables, slots in zip(arguments, self.slots, strict=False):
                if isinstance(tables, list):
                    tables.extend(slots[len(tables) :])
            return self.namespace[function](*arguments)

        self._compilers[function] = compile_it
        self.namespace[function] = stub

    @contextmanager
    def local(self, members: Sequence[int]) -> Iterator[dict[Key, AccessPath]]:
        """Within this context, code that computes these relations has them as local variables. Yields the
        local indexes of them that the code turns out to need."""
        self._local = {p: AccessPath(f"r{p}", local=True) for p in members}
        self._estimates.local = frozenset(members)
        try:
            yield self._local_indexes
        finally:
            self._local, self._local_indexes = {}, {}
            self._estimates.local = frozenset()

    def lazy_path(
        self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...], calls: float
    ) -> AccessPath | None:
        """The same access, computed key by key on demand; None if computing the whole relation is expected
        to be cheaper than ``calls`` calls."""
        schema = self._schema
        self._asked.add(predicate)
        if not keys or predicate in self._local or predicate in schema.static or schema.given[predicate]:
            return None
        if not self._estimates.cheaper(predicate, keys, calls):
            return None
        key = predicate, keys, values
        self._calls[key] = self._calls.get(key, 0.0) + calls
        return self.lazily(key)

    def calls(self, key: Key) -> float:
        """The number of calls of a lazy path that the code makes, as far as it is known; else 1."""
        return self._calls.get(key, 1.0)

    def effort(self, predicate: int) -> int:
        """A rank that grows with the cost of a look-up: static 1, given 2, derived relations 3."""
        return 1 if predicate in self._schema.static else 2 if self._schema.given[predicate] else 3


def _new_memo(tables: Tables, slot: int) -> dict[Any, Any]:
    """An empty memo in a slot of the tables."""
    memo: dict[Any, Any] = {}
    tables[slot] = memo
    return memo
