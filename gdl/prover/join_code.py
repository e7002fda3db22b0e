"""Joins as code: one flat clause becomes nested loops of Python source.

:mod:`gdl.prover.conditions` puts the literals in order; tests (:mod:`gdl.prover.conditions`) run as soon as
their variables are bound. A part of a body that binds nothing for the head needs one match only. Names in
the source are made of numbers: nothing of the rules' own text gets into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gdl.compile.program import FlatAtom, FlatClause, variables_of
from gdl.errors import TooLargeError
from gdl.prover.conditions import (
    FunctionSource,
    Item,
    MatchCode,
    Scope,
    ask,
    body_items,
    choose,
    components,
    condition,
    share,
    single,
    targets,
    unpack,
    write_tests,
)
from gdl.prover.schema import AccessPath, row, value
from gdl.prover.table_slots import Relations

WORK_BETWEEN_TICKS = 300_000  # loop iterations, at most, between two checks of the limits
MAX_NESTED_LOOPS = 16  # Python allows 20 nested blocks; deeper loops go into functions of their own
MAX_VARIABLES = 400  # of one rule; more take minutes to plan, and their loops nest too deeply to run


class FunctionWriter(FunctionSource):
    """Writes the loops of one function; ``size`` is the expression for the number of rows so far,
    ``predicate`` the one whose relation the function computes, -1 where it must be computed whole."""

    def __init__(self, relations: Relations, parameters: str) -> None:
        super().__init__(relations, parameters)
        self.size = "0"
        self.predicate = -1
        self._first_path: AccessPath | None = None

    def clause(
        self,
        clause: FlatClause,
        match: MatchCode,
        first: FlatAtom | None = None,
        first_path: AccessPath | None = None,
        first_only: bool = False,
        bound: frozenset[int] = frozenset(),
        needed: frozenset[int] | None = None,
        calls: float = 1.0,
    ) -> None:
        """Write the loops of a clause.

        Args:
            clause: the clause.
            match: handles each match.
            first: the positive literal that the outermost loop must go over,
            first_path: and the rows that it takes there.
            first_only: whether the first match is enough.
            bound: variables that have their values already.
            needed: variables that the match reads, those of the head if not given.
            calls: how often the function is expected to be called.

        Raises:
            TooLargeError: the clause has more than MAX_VARIABLES variables.
        """
        free = frozenset[int]().union(*(variables_of(atom.args) for atom in clause.positives)) - bound
        if len(free) > MAX_VARIABLES:
            raise TooLargeError(
                f"a rule has {len(free)} variables, more than {MAX_VARIABLES}",
                remedy="make several rules of it, with relations of their own between them",
            )
        items = body_items(clause, first)
        if items is None:
            return
        if needed is None:
            needed = variables_of(clause.head.args)
        self._first_path = first_path
        indent = self.indent
        self._level(items, Scope(bound, frozenset(), first_only, 0, 0, match, needed, calls))
        self.indent = indent

    def bind(self, args: Sequence[int], parts: Sequence[str]) -> frozenset[int]:
        """Give arguments the values of some variables, and go on only where they agree; return the
        variables that this binds."""
        bound: set[int] = set()
        conditions: list[str] = []
        for arg, part in zip(args, parts, strict=True):
            if arg < 0 and arg not in bound:
                self.line(f"{value(arg)} = {part}")
                bound.add(arg)
            else:
                conditions.append(f"{part} == {value(arg)}")
        self.when(conditions)
        return frozenset(bound)

    def _level(self, items: list[Item], scope: Scope) -> int:
        """Write the rest of a body; return the most iterations that it can take."""
        items = write_tests(self, items, scope)
        if not items:
            self._match(scope)
            return 1
        if self.deep():
            return self._helper(items, scope)
        open_head = scope.needed - scope.bound
        existential: list[list[Item]] = []
        producing: list[Item] = []
        for part in components(items, scope.bound):
            if any(i.variables & open_head for i in part):
                producing += part
            else:
                existential.append(part)
        existential.sort(key=len)
        work = 1
        while existential and (producing or len(existential) > 1 or single(existential[0], scope.bound)):
            if self.deep():
                return max(work, self._helper([i for p in existential for i in p] + producing, scope))
            work = max(work, self._exists(existential.pop(0), scope))
        if not producing:
            if not existential:
                self._match(scope)
                return work
            producing = existential[0]
            if not scope.first_only:
                scope.first_only, scope.loops = True, 0
                if scope.match.fresh is not None:
                    self.when([scope.match.fresh()])
        return max(work, self._loop(producing, scope))

    def _match(self, scope: Scope) -> None:
        scope.match.write()
        if scope.first_only and scope.loops and not scope.match.leaves:
            self.line("break")

    def _exists(self, part: list[Item], scope: Scope) -> int:
        """Go on only where an independent part of the body has a match."""
        if single(part, scope.bound):
            test, _ = condition(self, part[0], scope)
            self.when([test])
            scope.calls *= share(part, scope.bound, self.relations)
            return 1
        flag = self.name("f")
        self.line(f"{flag} = False")
        indent = self.indent
        match = MatchCode(lambda: self.line(f"{flag} = True"))
        inner = Scope(scope.bound, scope.ready, True, 0, scope.nested, match, frozenset(), scope.calls)
        work = self._level(part, inner)
        self.indent = indent
        self.line(f"if {flag}:")
        self.indent += 1
        scope.calls *= share(part, scope.bound, self.relations)
        return work

    def _loop(self, items: list[Item], scope: Scope) -> int:
        """Write the loop over the best literal and the rest of the body inside it."""
        chosen = choose(items, scope.bound, self.relations)
        if scope.nested >= MAX_NESTED_LOOPS:
            return self._helper(items, scope)
        atom = chosen.what
        assert isinstance(atom, FlatAtom)
        rest = [i for i in items if i is not chosen]
        if not rest and self._all_match(chosen, atom, scope):
            return 1
        later = scope.needed.union(*(i.variables for i in rest))
        keys = atom.bound_columns(scope.bound)
        wanted = tuple(
            [c for c, a in enumerate(atom.args) if c not in keys and (a in later or atom.args.count(a) > 1)]
        )
        if chosen.first or self._scans(atom, keys, wanted, scope):
            path = self._whole(chosen, atom)
            self.read(path, scope)
            if not atom.args:
                self.when([path.name])
                return self._level(rest, scope)
            return self._rows(path.name, atom, range(len(atom.args)), keys, rest, scope)
        if not wanted:
            test, _ = condition(self, Item(atom, False, chosen.variables), scope)
            self.when([test])
            return self._level(rest, scope)
        key = row([atom.args[c] for c in keys])
        # The expected calls of this literal count twice, here and in _scans: plans depend on that.
        lazy = self.relations.lazy_path(atom.predicate, keys, wanted, scope.calls)
        if lazy is not None:
            return self._rows(ask(self, lazy, key, scope), atom, wanted, keys, rest, scope)
        path = self.relations.path(atom.predicate, keys, wanted)
        self.read(path, scope)
        if path.single:
            self._only_row(f"{path.name}.get({key})", [atom.args[c] for c in wanted], scope)
            return self._level(rest, scope)
        source = f"{path.name}.get({key}, ())" if keys else path.name
        return self._rows(source, atom, wanted, keys, rest, scope)

    def _whole(self, chosen: Item, atom: FlatAtom) -> AccessPath:
        """The path to all rows of the literal."""
        if chosen.first:
            assert self._first_path is not None
            return self._first_path
        return self.relations.path(atom.predicate, (), tuple(range(len(atom.args))))

    def _all_match(self, chosen: Item, atom: FlatAtom, scope: Scope) -> bool:
        """Handle all rows at once where each is a match as it is; whether they are."""
        match, args = scope.match, atom.args
        distinct = len(set(args)) == len(args) and all(a < 0 and a not in scope.bound for a in args)
        if not distinct or match.all_of is None or match.row != args:
            return False
        path = self._whole(chosen, atom)
        self.read(path, scope)
        match.all_of(path.name)
        return True

    def _scans(self, atom: FlatAtom, keys: tuple[int, ...], wanted: tuple[int, ...], scope: Scope) -> bool:
        """Whether to go over all rows although some columns are bound."""
        return (
            bool(wanted)
            and self.relations.lazy_path(atom.predicate, keys, wanted, scope.calls) is None
            and all(atom.args[c] >= 0 for c in keys)
            and scope.nested == 0
            and self.relations.scanned(atom.predicate, keys)
        )

    def _only_row(self, source: str, args: list[int], scope: Scope) -> None:
        """Go on only where a key has a row, and take that row apart."""
        name = self.name("t")
        if len(args) == 1:
            name = value(args[0])
            scope.bound |= {args[0]}
        self.line(f"{name} = {source}")
        self.when([f"{name} is not None"])
        if len(args) > 1:
            unpack(self, args, name, scope)

    def _rows(
        self,
        source: str,
        atom: FlatAtom,
        columns: Sequence[int],
        keys: tuple[int, ...],
        rest: list[Item],
        scope: Scope,
    ) -> int:
        """Write the loop over rows of some columns and the rest of the body inside it."""
        start = self.indent
        later = scope.needed.union(*(i.variables for i in rest))
        calls = scope.calls * max(self.relations.fan(atom.predicate, keys), 0.05)
        inner = replace(scope, loops=scope.loops + 1, nested=scope.nested + 1, calls=calls)
        into: list[str] = []
        conditions: list[str] = []
        for arg in (atom.args[c] for c in columns):
            if arg in later or arg >= 0 or atom.args.count(arg) > 1:
                names, tests = targets(self, [arg], inner)
                into += names
                conditions += tests
            else:
                into.append("_")
        self.line(f"for {', '.join(into)} in {source}:")
        place = len(self.lines)
        self.indent += 1
        self.when(conditions)
        work = self._level(rest, inner) * self.relations.most(atom.predicate, keys)
        self.indent = start
        if work > WORK_BETWEEN_TICKS:
            self._tick(place, start + 1)
            work = 1
        self._break_out(scope)
        return work

    def _tick(self, place: int, indent: int) -> None:
        """Insert, before some line, the countdown to the next check of the limits."""
        self.ticks = True
        pad = " " * indent
        self.lines[place:place] = [f"{pad}n -= 1", f"{pad}if n < 0: n = tick({self.size}, {self.predicate})"]

    def _break_out(self, scope: Scope) -> None:
        """After a loop: leave the loop around it too where this one was left by a match."""
        if scope.first_only and scope.loops and not scope.match.leaves:
            self.line("else: continue", "break")

    def _helper(self, items: list[Item], scope: Scope) -> int:
        """Write the rest of a body as a generator function that yields the variables it binds."""
        name = f"h{self.relations.fresh()}"
        read = frozenset().union(*(i.variables for i in items))
        inputs = sorted(scope.bound & read, reverse=True)
        outputs = "".join(f"{value(v)}, " for v in sorted(scope.needed - scope.bound, reverse=True))
        writer = FunctionWriter(self.relations, self.parameters)
        writer._first_path = self._first_path
        match = MatchCode(lambda: writer.line(f"yield ({outputs})"))
        inside = Scope(scope.bound, frozenset(), False, 0, 0, match, scope.needed, scope.calls)
        work = writer._level(items, inside)
        # Only now is it known which local relations the helper, or one that it calls, reads.
        self.locals |= writer.locals
        arguments = ", ".join(filter(None, [self.parameters, *map(value, inputs), *sorted(writer.locals)]))
        writer.parameters = arguments
        # A helper that counts checks the limits at once: it may be called often, and for little each time.
        self.helpers += writer.function(name, ["if 0: yield"], ticks=0)
        self.line(f"for {outputs or '_'} in {name}({arguments}):")
        start = self.indent
        self.indent += 1
        if writer.ticks:
            # The rows that its matches make are counted here, where they are stored.
            self._tick(len(self.lines), self.indent)
            work = 1
        self._match(replace(scope, loops=scope.loops + 1))
        self.indent = start
        self._break_out(scope)
        return work
