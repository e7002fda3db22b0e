"""Slots of the tables, and the access paths that read them: indexes, projections, memos.

Paths of static relations are made once and are globals of the generated code. Those of dynamic
relations are slots of the tables, filled by a function that is compiled when it is first called.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from gdl.compile.stratify import Dependence
from gdl.prover.access_path import AccessKind, AccessPath, Key, row
from gdl.prover.schema import Rows, Schema, Tables, project


class TableSlots:
    """The paths of a program, and the namespace of its generated code.

    Attributes:
        namespace: the globals of the generated code.
        slots: what the slots of the tables of a state, of a move hold at first: nothing
            (None), or for ``true`` and ``does`` an empty relation.
        lazy: the paths that are filled key by key.
    """

    def __init__(
        self, schema: Schema, compile_relation: Callable[[int], None], compile_call: Callable[[Key], None]
    ) -> None:
        self._schema = schema
        self._compile_relation = compile_relation
        self._compile_call = compile_call
        self._paths: dict[Key, AccessPath] = {}
        self._slot: dict[int, int] = {}
        self._numbers = 0
        self.namespace: dict[str, Any] = {"defaultdict": defaultdict, "new": _new_memo}
        self.slots: tuple[list[Any], list[Any]] = ([], [])
        self.lazy: dict[Key, AccessPath] = {}

    # --- names and slots -------------------------------------------------------------------
    def fresh(self) -> int:
        """A number for a new name."""
        self._numbers += 1
        return self._numbers

    def constant(self, thing: Any) -> str:
        """A global of the generated code."""
        name = f"c{self.fresh()}"
        self.namespace[name] = thing
        return name

    def new_slot(self, moves: bool, first: Any = None) -> int:
        """A new slot in the tables of states or of moves."""
        self.slots[moves].append(first)
        return len(self.slots[moves]) - 1

    def slot(self, predicate: int) -> int:
        """Where the tables have a dynamic relation."""
        return self._slot[predicate]

    def lazy_slot(self, key: Key) -> int:
        """Where the tables have what was computed key by key."""
        return int(self.lazy[key].name[1:])

    def table(self, predicate: int) -> str:
        """The variable of the tables that hold a predicate, in generated code."""
        return "D" if self._schema.moves(predicate) else "M"

    def parameters(self, predicate: int) -> str:
        """The parameters of the functions that compute a predicate."""
        return "M, D" if self._schema.moves(predicate) else "M"

    # --- paths -----------------------------------------------------------------------------
    def path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> AccessPath:
        """See :class:`gdl.prover.access_path.Relations`."""
        key = predicate, keys, values
        known = self._paths.get(key)
        if known is None:
            if self._schema.level[predicate] is Dependence.STATIC:
                known = self._static(key)
            elif not keys and len(values) == self._schema.arity[predicate]:
                known = self._whole(predicate)
            else:
                known = self._derived(key)
            self._paths[key] = known
        return known

    def _static(self, key: Key) -> AccessPath:
        predicate, keys, values = key
        rows = self._schema.static[predicate]
        arity = self._schema.arity[predicate]
        kind = AccessKind.ROWS
        made: Any
        if not keys:
            made = rows if len(values) == arity else set(project(rows, values)) if values else bool(rows)
        else:
            lists: dict[Any, list[Any]] = {}
            pairs: Iterable[tuple[Any, Any]] = zip(project(rows, keys), project(rows, values), strict=True)
            if len(keys) + len(values) < arity:
                pairs = dict.fromkeys(pairs)
            for asked, found in pairs:
                lists.setdefault(asked, []).append(found)
            if all(len(found) == 1 for found in lists.values()):
                kind, made = AccessKind.VALUES, {asked: found[0] for asked, found in lists.items()}
            else:
                kind, made = AccessKind.LISTS, lists
        name = f"s{self.fresh()}"
        self.namespace[name] = made
        return AccessPath(name, kind)

    def _whole(self, predicate: int) -> AccessPath:
        moves = self._schema.moves(predicate)
        first: Any = None
        if self._schema.given[predicate]:
            first = set() if self._schema.arity[predicate] else False
        number = self._slot[predicate] = self.new_slot(moves, first)
        name = f"{'d' if moves else 'm'}{number}"
        loader = f"{name} = {self.table(predicate)}[{number}]"
        if self._schema.given[predicate]:
            return AccessPath(name, AccessKind.ROWS, loader)
        self._stub(f"g{predicate}", lambda: self._compile_relation(predicate))
        return AccessPath(name, AccessKind.ROWS, loader, f"g{predicate}({self.parameters(predicate)})")

    def _derived(self, key: Key) -> AccessPath:
        """An index or a projection of a dynamic relation."""
        predicate, keys, _ = key
        moves = self._schema.moves(predicate)
        number = self.new_slot(moves)
        name = f"{'d' if moves else 'm'}{number}"
        function = f"p{name}"
        self._stub(function, lambda: self._compile_derived(key, function, number))
        loader = f"{name} = {self.table(predicate)}[{number}]"
        maker = f"{function}({self.parameters(predicate)})"
        return AccessPath(name, AccessKind.LISTS if keys else AccessKind.ROWS, loader, maker)

    def _compile_derived(self, key: Key, function: str, number: int) -> None:
        predicate, keys, values = key
        arity = self._schema.arity[predicate]
        whole = self.path(predicate, (), self._schema.every(predicate))
        lines = [f"def {function}({self.parameters(predicate)}):", f" {whole.loader}"]
        if whole.maker:
            lines.append(f" if {whole.name} is None: {whole.name} = {whole.maker}")
        targets = ", ".join(f"v{c}" if c in keys or c in values else "_" for c in range(arity))
        asked, found = row([-1 - c for c in keys]), row([-1 - c for c in values])
        if not keys and not values:
            lines.append(f" o = bool({whole.name})")
        elif not keys:
            lines.append(f" o = {{{found} for {targets} in {whole.name}}}")
        else:
            partial = len(keys) + len(values) < arity
            lines.append(f" o = defaultdict({'set' if partial else 'list'})")
            add = "add" if partial else "append"
            lines.append(f" for {targets} in {whole.name}: o[{asked}].{add}({found})")
        lines += [f" {self.table(predicate)}[{number}] = o", " return o"]
        self.execute(lines)

    def lazily(self, key: Key) -> AccessPath:
        """The path that is filled key by key."""
        if key not in self.lazy:
            predicate = key[0]
            moves = self._schema.moves(predicate)
            number = self.new_slot(moves)
            name = f"{'e' if moves else 'l'}{number}"
            table = self.table(predicate)
            self.lazy[key] = AccessPath(
                name,
                AccessKind.LAZY,
                f"{name} = {table}[{number}]",
                f"new({table}, {number})",
                f"q{name}({self.parameters(predicate)}, ",
            )
            self._stub(f"q{name}", lambda: self._compile_call(key))
        return self.lazy[key]

    # --- code ------------------------------------------------------------------------------
    def execute(self, lines: list[str]) -> None:
        """Define generated functions. Their source is made of numbers, not of the rules' text."""
        exec(compile("\n".join(lines), "<rules>", "exec"), self.namespace)

    def forget_code(self) -> None:
        """Compile all relations and calls anew when they are next needed."""
        for predicate in self._slot:
            if not self._schema.given[predicate]:
                self._stub(f"g{predicate}", partial(self._compile_relation, predicate))
        for key, path in self.lazy.items():
            self._stub(f"q{path.name}", partial(self._compile_call, key))

    def _stub(self, function: str, compile_it: Callable[[], None]) -> None:
        """Put a function into the namespace that compiles its successor when first called."""

        def stub(*arguments: Any) -> Rows:
            compile_it()
            for mine, slots in zip(arguments, self.slots, strict=False):
                if isinstance(mine, list) and len(mine) < len(slots):
                    mine.extend(slots[len(mine) :])
            return self.namespace[function](*arguments)

        self.namespace[function] = stub


def _new_memo(tables: Tables, slot: int) -> dict[Any, Any]:
    """An empty memo in a slot of the tables."""
    made: dict[Any, Any] = {}
    tables[slot] = made
    return made
