"""Joins as code: one flat clause becomes nested loops of Python source.

Literals are put in order by :mod:`gdl.prover.join_order`; tests (:mod:`gdl.prover.conditions`) run as soon as
their variables are bound. Parts of a body that bind nothing that the head needs are asked for
one match only. Names in the source are made of numbers: nothing of the rules' own text gets
into it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gdl.compile.program import FlatAtom, FlatClause
from gdl.errors import TooLargeError
from gdl.prover.access_path import AccessKind, AccessPath, Relations, row, value, variables
from gdl.prover.conditions import ask, condition, targets, unpack, write_tests
from gdl.prover.function_source import FunctionSource, MatchCode, Scope
from gdl.prover.join_order import Item, body_items, choose, components, share, single

WORK_BETWEEN_TICKS = 300_000
"""Loop iterations, at most, between two looks at the limits."""

MAX_NESTED_LOOPS = 16
"""Python allows 20 nested blocks; what is nested deeper becomes a function of its own."""

MAX_VARIABLES = 400
"""Of one rule. With more the loops would be nested too deeply to be run, after minutes of planning."""


class FunctionWriter(FunctionSource):
    """Writes the loops of one function.

    Args:
        relations: what it reads.
        parameters: its parameters, as in the source.

    Attributes:
        size: the expression for the number of rows found so far.
        predicate: the one whose relation the function computes; -1 where it must be computed whole.
    """

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
        one: bool = False,
        bound: frozenset[int] = frozenset(),
        ready: frozenset[str] = frozenset(),
        needed: frozenset[int] | None = None,
        calls: float = 1.0,
    ) -> None:
        """Write the loops of a clause.

        Args:
            clause: its head gives the variables that matter.
            match: what is done with each match.
            first: the positive literal that the outermost loop must go over,
            first_path: and the rows that it takes there.
            one: whether one match is enough.
            bound: variables that have their values already.
            ready: paths that surely hold a value.
            needed: variables that the match reads, those of the head if not given.
            calls: how often the function is expected to be called.

        Raises:
            TooLargeError: the clause has more than MAX_VARIABLES variables.
        """
        found = frozenset[int]().union(*(variables(atom.args) for atom in clause.positives)) - bound
        if len(found) > MAX_VARIABLES:
            raise TooLargeError(
                f"a rule has {len(found)} variables, more than {MAX_VARIABLES}",
                remedy="make several rules of it, with relations of their own between them",
            )
        items = body_items(clause, first)
        if items is None:
            return
        if needed is None:
            needed = variables(clause.head.args)
        self._first_path = first_path
        indent = self.indent
        self._level(items, Scope(bound, ready, one, 0, 0, match, needed, calls))
        self.indent = indent

    def bind(self, args: Sequence[int], parts: Sequence[str]) -> frozenset[int]:
        """Give arguments the values of some variables, and go on only where they agree; the
        variables that are bound by that."""
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

    # --- one level: tests, then components, then a loop --------------------------------
    def _level(self, items: list[Item], scope: Scope) -> int:
        """Write what remains of a body; the most iterations that it can take."""
        items = write_tests(self, items, scope)
        if not items:
            self._match(scope)
            return 1
        if self.deep():
            return self._helper(items, scope)
        open_head = scope.needed - scope.bound
        parts = components(items, scope.bound)
        existential = [p for p in parts if not any(i.variables & open_head for i in p)]
        producing = [i for p in parts if any(i.variables & open_head for i in p) for i in p]
        existential.sort(key=len)
        work = 1
        while existential and (producing or len(existential) > 1 or single(existential[0], scope.bound)):
            if self.deep():
                return max(work, self._helper([i for p in existential for i in p] + producing, scope))
            part = existential.pop(0)
            work = max(work, self._exists(part, scope))
        if not producing:
            if not existential:
                self._match(scope)
                return work
            producing = existential[0]
            if not scope.one:
                scope.one, scope.loops = True, 0
                if scope.match.fresh is not None:
                    self.when([scope.match.fresh()])
        return max(work, self._loop(producing, scope))

    def _match(self, scope: Scope) -> None:
        scope.match.write()
        if scope.one and scope.loops and not scope.match.leaves:
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

        found = MatchCode(lambda: self.line(f"{flag} = True"))
        inner = Scope(scope.bound, scope.ready, True, 0, scope.nested, found, frozenset(), scope.calls)
        work = self._level(part, inner)
        self.indent = indent
        self.line(f"if {flag}:")
        self.indent += 1
        scope.calls *= share(part, scope.bound, self.relations)
        return work

    # --- loops -----------------------------------------------------------------------------
    def _loop(self, items: list[Item], scope: Scope) -> int:
        """Write the loop over the best literal and what remains inside it."""
        chosen = choose(items, scope.bound, self.relations)
        if scope.nested >= MAX_NESTED_LOOPS:
            return self._helper(items, scope)
        atom = chosen.what
        assert isinstance(atom, FlatAtom)
        rest = [i for i in items if i is not chosen]
        later = scope.needed.union(*(i.variables for i in rest))
        whole = len(set(atom.args)) == len(atom.args) and scope.bound.isdisjoint(atom.args)
        whole = whole and all(a < 0 for a in atom.args)
        if whole and not rest and scope.match.all_of is not None and scope.match.row == atom.args:
            path = self._first_path if chosen.first else None
            if path is None:
                path = self.relations.path(atom.predicate, (), tuple(range(len(atom.args))))
            self.read(path, scope)
            scope.match.all_of(path.name)
            return 1
        keys: list[int] = []
        wanted: list[int] = []
        for column, arg in enumerate(atom.args):
            if arg >= 0 or arg in scope.bound:
                keys.append(column)
            elif arg in later or atom.args.count(arg) > 1:
                wanted.append(column)
        start = self.indent
        if not wanted and not chosen.first:
            test, _ = condition(self, Item(atom, False, chosen.variables), scope)
            self.when([test])
            return self._level(rest, scope)
        key = tuple(keys)
        most = self.relations.most(atom.predicate, key)
        constant = all(atom.args[c] >= 0 for c in keys)
        if chosen.first or (
            self.relations.lazy(atom.predicate, key, tuple(wanted), scope.calls) is None
            and constant
            and scope.nested == 0
            and self.relations.scanned(atom.predicate, key)
        ):
            path = self.relations.path(atom.predicate, (), tuple(range(len(atom.args))))
            if chosen.first:
                assert self._first_path is not None
                path = self._first_path
            self.read(path, scope)
            if not atom.args:
                self.when([path.name])
                return self._level(rest, scope)
            source = path.name
            columns = list(range(len(atom.args)))
        else:
            columns = wanted
            asked = row([atom.args[c] for c in keys])
            lazy = self.relations.lazy(atom.predicate, key, tuple(wanted), scope.calls) if keys else None
            path = lazy or self.relations.path(atom.predicate, key, tuple(wanted))
            if lazy is None:
                self.read(path, scope)
            if path.kind is AccessKind.VALUES:
                taken = self.name("t")
                if len(columns) == 1 and len(set(atom.args)) == len(atom.args):
                    taken = value(atom.args[columns[0]])
                    scope.bound |= {atom.args[columns[0]]}
                    self.line(f"{taken} = {path.name}.get({asked})")
                    self.when([f"{taken} is not None"])
                else:
                    self.line(f"{taken} = {path.name}.get({asked})")
                    self.when([f"{taken} is not None"])
                    if len(columns) == 1:
                        taken = f"({taken},)"
                    unpack(self, [atom.args[c] for c in columns], taken, scope)
                return self._level(rest, scope)
            if lazy is not None:
                source = ask(self, lazy, asked, scope)
            else:
                source = f"{path.name}.get({asked}, ())" if keys else path.name
        inner = Scope(
            scope.bound,
            scope.ready,
            scope.one,
            scope.loops + 1,
            scope.nested + 1,
            scope.match,
            scope.needed,
            scope.calls * max(self.relations.fan(atom.predicate, key), 0.05),
        )
        into: list[str] = []
        conditions: list[str] = []
        for column in columns:
            arg = atom.args[column]
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
        before = self.indent
        work = self._level(rest, inner) * most
        assert before > start
        self.indent = start
        if work > WORK_BETWEEN_TICKS:
            self._tick(place, start + 1)
            work = 1
        self._break_out(scope)
        return work

    def _tick(self, place: int, indent: int) -> None:
        """Insert, before some line, the countdown to the next look at the limits."""
        self.ticks = True
        pad = " " * indent
        look = f"if n < 0: n = tick({self.size}, {self.predicate})"
        self.lines[place:place] = [f"{pad}n -= 1", f"{pad}{look}"]

    def _break_out(self, scope: Scope) -> None:
        """After a loop: leave the loop around it too where this one was left by a match."""
        if scope.one and scope.loops and not scope.match.leaves:
            self.line("else: continue")
            self.line("break")

    def _helper(self, items: list[Item], scope: Scope) -> int:
        """Write what remains of a body as a generator function that yields what it binds."""
        name = f"h{self.relations.fresh()}"
        read = frozenset().union(*(i.variables for i in items))
        given = sorted(scope.bound & read, reverse=True)
        found = sorted(scope.needed - scope.bound, reverse=True)
        writer = FunctionWriter(self.relations, self.parameters)
        writer._first_path = self._first_path
        result = f"yield ({''.join(f'{value(v)}, ' for v in found)})"
        match = MatchCode(lambda: writer.line(result))
        inside = Scope(scope.bound, frozenset(), False, 0, 0, match, scope.needed, scope.calls)
        work = writer._level(items, inside)
        # Only now is it known which local relations the helper, or one that it calls, reads.
        self.locals |= writer.locals
        arguments = ", ".join(filter(None, [self.parameters, *map(value, given), *sorted(writer.locals)]))
        writer.parameters = arguments
        # One that counts looks at the limits at once: it may be called often, and for little each time.
        self.helpers += [*writer.helpers, *writer.function(name, ["if 0: yield"], ticks=0)]
        into = "".join(f"{value(v)}, " for v in found) or "_"
        self.line(f"for {into} in {name}({arguments}):")
        start = self.indent
        self.indent += 1
        if writer.ticks:
            # The rows that its matches make are counted here, where they are kept.
            self._tick(len(self.lines), self.indent)
            work = 1
        self._match(replace(scope, loops=scope.loops + 1))
        self.indent = start
        self._break_out(scope)
        return work
