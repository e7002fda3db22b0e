"""Join planning and code generation: one flat clause becomes nested loops of Python source.

Literals are put in order greedily, the one with the fewest expected matches first; tests run
as soon as their variables are bound. Parts of a body that bind nothing that the head needs
are asked for one match only. Names in the source are made of numbers: nothing of the rules'
own text gets into it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gdl.access import Kind, Path, Relations, row, value, variables
from gdl.errors import RulesError
from gdl.program import Build, FlatAtom, FlatClause

WORK_BETWEEN_TICKS = 300_000
"""Loop iterations, at most, between two looks at the limits."""

MAX_NESTED_LOOPS = 16
"""Python allows 20 nested blocks; what is nested deeper becomes a function of its own."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A part of a body that is still to be placed."""

    what: FlatAtom | Build | tuple[tuple[int, ...], tuple[int, ...]]
    negative: bool
    variables: frozenset[int]
    first: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """What the code does with a match of a body.

    Attributes:
        write: writes it.
        leaves: whether it leaves the function.
        fresh: gives the condition that the head at hand is new; None where that is not asked.
        row: the arguments of the head.
        all_of: writes what is done where all rows of a relation are matches.
    """

    write: Callable[[], None]
    leaves: bool = False
    fresh: Callable[[], str] | None = None
    row: tuple[int, ...] | None = None
    all_of: Callable[[str], None] | None = None


@dataclass(slots=True)
class _Scope:
    """What holds at one place of the code."""

    bound: frozenset[int]
    ready: frozenset[str]
    one: bool
    """Whether one match is enough from here on."""
    loops: int
    """Loops around this place that a match must break out of."""
    nested: int
    """All loops around this place."""
    match: Match
    needed: frozenset[int]
    calls: float = 1.0
    """How often this place is expected to be reached."""


class FunctionWriter:
    """Writes one function: its lines, and the loads of the relations that it reads."""

    def __init__(self, relations: Relations, parameters: str) -> None:
        self.relations = relations
        self.parameters = parameters
        self.lines: list[str] = []
        self.indent = 1
        self.loads: dict[str, str] = {}
        self.helpers: list[str] = []
        self.ticks = False
        self.size = "0"
        self.predicate = -1
        self._names = 0
        self._first_path: Path | None = None

    def line(self, text: str) -> None:
        """Append a statement at the present indentation."""
        self.lines.append(" " * self.indent + text)

    def name(self, prefix: str) -> str:
        """A fresh local variable."""
        self._names += 1
        return f"{prefix}{self._names}"

    def clause(
        self,
        clause: FlatClause,
        match: Match,
        first: FlatAtom | None = None,
        first_path: Path | None = None,
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
        """
        items: list[_Item] = []
        for atom in clause.positives:
            items.append(_Item(atom, False, variables(atom.args), atom is first))
        for atom in clause.negatives:
            items.append(_Item(atom, True, variables(atom.args)))
        for left, right in clause.distincts:
            open_pairs = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
            if any(a >= 0 and b >= 0 for a, b in open_pairs):
                continue
            if not open_pairs:
                return
            pair = tuple(a for a, _ in open_pairs), tuple(b for _, b in open_pairs)
            items.append(_Item(pair, False, variables(pair[0] + pair[1])))
        for build in clause.builds:
            items.append(_Item(build, False, variables((build.value, *build.args))))
        if needed is None:
            needed = variables(clause.head.args)
        self._first_path = first_path
        indent = self.indent
        self._level(items, _Scope(bound, ready, one, 0, 0, match, needed, calls))
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
        self._if(conditions)
        return frozenset(bound)

    # --- one level: tests, then components, then a loop --------------------------------
    def _level(self, items: list[_Item], scope: _Scope) -> int:
        """Write what remains of a body; the most iterations that it can take."""
        items = self._tests(items, scope)
        if not items:
            self._match(scope)
            return 1
        open_head = scope.needed - scope.bound
        parts = _components(items, scope.bound)
        existential = [p for p in parts if not any(i.variables & open_head for i in p)]
        producing = [i for p in parts if any(i.variables & open_head for i in p) for i in p]
        existential.sort(key=len)
        work = 1
        while existential and (producing or len(existential) > 1 or self._single(existential[0], scope)):
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
                    self._if([scope.match.fresh()])
        return max(work, self._loop(producing, scope))

    def _match(self, scope: _Scope) -> None:
        scope.match.write()
        if scope.one and scope.loops and not scope.match.leaves:
            self.line("break")

    @staticmethod
    def _single(part: list[_Item], scope: _Scope) -> bool:
        """Whether a part is one literal without a variable that would have to be compared."""
        atom = part[0].what
        if len(part) > 1 or not isinstance(atom, FlatAtom) or part[0].first:
            return False
        free = [a for a in atom.args if a < 0 and a not in scope.bound]
        return len(set(free)) == len(free)

    def _exists(self, part: list[_Item], scope: _Scope) -> int:
        """Go on only where an independent part of the body has a match."""
        if self._single(part, scope):
            condition, _ = self._condition(part[0], scope)
            self.line(f"if {condition}:")
            self.indent += 1
            scope.calls *= self._share(part, scope.bound)
            return 1
        flag = self.name("f")
        self.line(f"{flag} = False")
        indent = self.indent

        found = Match(lambda: self.line(f"{flag} = True"))
        inner = _Scope(scope.bound, scope.ready, True, 0, scope.nested, found, frozenset(), scope.calls)
        work = self._level(part, inner)
        self.indent = indent
        self.line(f"if {flag}:")
        self.indent += 1
        scope.calls *= self._share(part, scope.bound)
        return work

    def _share(self, items: list[_Item], bound: frozenset[int]) -> float:
        """In what share of all cases positive literals are expected to have a match."""
        matches = 1.0
        left = [i.what for i in items if isinstance(i.what, FlatAtom) and not i.negative]
        while left:
            fans = []
            for atom in left:
                keys = tuple([c for c, a in enumerate(atom.args) if a >= 0 or a in bound])
                fans.append(self.relations.fan(atom.predicate, keys))
            best = fans.index(min(fans))
            matches *= fans[best]
            bound |= variables(left.pop(best).args)
        return min(1.0, max(matches, 0.02))

    # --- tests ---------------------------------------------------------------------------
    def _tests(self, items: list[_Item], scope: _Scope) -> list[_Item]:
        """Write all tests whose variables are bound, cheap ones first; what is left."""
        while True:
            builds = [i for i in items if isinstance(i.what, Build) and self._buildable(i.what, scope)]
            tests = [
                i
                for i in items
                if i.variables <= scope.bound and not isinstance(i.what, Build) and not i.first
            ]
            if not tests and not builds:
                return items
            conditions: list[str] = []
            tests.sort(key=self._test_cost)
            for item in tests:
                condition, waits = self._condition(item, scope, conditions)
                if waits:
                    conditions = []
                conditions.append(condition)
            self._if(conditions)
            scope.calls *= self._share(tests, scope.bound)
            done = {id(i) for i in tests}
            for item in builds:
                assert isinstance(item.what, Build)
                if self._buildable(item.what, scope):
                    self._build(item.what, scope)
                    done.add(id(item))
            items = [i for i in items if id(i) not in done]

    def _test_cost(self, item: _Item) -> int:
        return self.relations.effort(item.what.predicate) if isinstance(item.what, FlatAtom) else 0

    def _if(self, conditions: list[str]) -> None:
        if conditions:
            self.line(f"if {' and '.join(conditions)}:")
            self.indent += 1

    def _condition(self, item: _Item, scope: _Scope, before: list[str] | None = None) -> tuple[str, bool]:
        """The test of an item, and whether statements had to be written before it (after the
        conditions that were waiting). Unbound variables are projected away."""
        what = item.what
        if isinstance(what, tuple):
            pairs = [f"{value(a)} != {value(b)}" for a, b in zip(*what, strict=True)]
            return (pairs[0] if len(pairs) == 1 else f"({' or '.join(pairs)})"), False
        assert isinstance(what, FlatAtom)
        columns = tuple(c for c, a in enumerate(what.args) if a >= 0 or a in scope.bound)
        lazy = self.relations.lazy(what.predicate, columns, (), scope.calls)
        if lazy is not None:
            if before:
                self._if(before)
            found = self._ask(lazy, row([what.args[c] for c in columns]), scope)
            return f"not {found}" if item.negative else found, True
        path = self.relations.path(what.predicate, (), columns)
        waits = bool(path.maker) and path.name not in scope.ready
        if waits and before:
            self._if(before)
        self.read(path, scope)
        if not columns:
            return (f"not {path.name}" if item.negative else path.name), waits
        key = row([what.args[c] for c in columns])
        return f"{key} {'not in' if item.negative else 'in'} {path.name}", waits

    def _ask(self, path: Path, key: str, scope: _Scope) -> str:
        """Write the look-up of a key in a lazy path; the variable with what it found."""
        self.read(path, scope)
        found = self.name("t")
        self.line(f"{found} = {path.name}.get({key})")
        self.line(f"if {found} is None: {found} = {path.call}{key})")
        return found

    def read(self, path: Path, scope: _Scope) -> None:
        """Make sure that a path's variable has its value here."""
        if path.loader:
            self.loads.setdefault(path.name, path.loader)
            if path.maker and path.name not in scope.ready:
                self.line(f"if {path.name} is None: {path.name} = {path.maker}")
                scope.ready |= {path.name}

    @staticmethod
    def _buildable(build: Build, scope: _Scope) -> bool:
        def known(arg: int) -> bool:
            return arg >= 0 or arg in scope.bound

        return known(build.value) or all(map(known, build.args))

    def _build(self, build: Build, scope: _Scope) -> None:
        functor = self.relations.functor(build.functor)
        arguments = f"({', '.join(map(value, build.args))},)"
        if all(a >= 0 or a in scope.bound for a in build.args):
            if build.value >= 0 or build.value in scope.bound:
                self._if([f"build({functor}, {arguments}) == {value(build.value)}"])
            else:
                self.line(f"{value(build.value)} = build({functor}, {arguments})")
                scope.bound |= {build.value}
            return
        taken = self.name("t")
        self.line(f"{taken} = take({functor}, {len(build.args)}, {value(build.value)})")
        self._if([f"{taken} is not None"])
        self._unpack(build.args, taken, scope)

    def _unpack(self, args: Sequence[int], source: str, scope: _Scope) -> None:
        """Assign a row of arguments; compare where a variable is bound already."""
        targets, conditions = self._targets(args, scope)
        self.line(f"{', '.join(targets)}{',' if len(targets) == 1 else ''} = {source}")
        self._if(conditions)

    def _targets(self, args: Sequence[int], scope: _Scope) -> tuple[list[str], list[str]]:
        """Names to unpack a row into, and the comparisons that must hold then."""
        targets: list[str] = []
        conditions: list[str] = []
        for arg in args:
            if arg < 0 and arg not in scope.bound:
                targets.append(value(arg))
                scope.bound |= {arg}
            else:
                temporary = self.name("u")
                targets.append(temporary)
                conditions.append(f"{temporary} == {value(arg)}")
        return targets, conditions

    # --- loops -----------------------------------------------------------------------------
    def _loop(self, items: list[_Item], scope: _Scope) -> int:
        """Write the loop over the best literal and what remains inside it."""
        chosen = self._choose(items, scope)
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
            condition, _ = self._condition(_Item(atom, False, chosen.variables), scope)
            self._if([condition])
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
                self._if([path.name])
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
            if path.kind is Kind.VALUES:
                taken = self.name("t")
                if len(columns) == 1 and len(set(atom.args)) == len(atom.args):
                    taken = value(atom.args[columns[0]])
                    scope.bound |= {atom.args[columns[0]]}
                    self.line(f"{taken} = {path.name}.get({asked})")
                    self._if([f"{taken} is not None"])
                else:
                    self.line(f"{taken} = {path.name}.get({asked})")
                    self._if([f"{taken} is not None"])
                    if len(columns) == 1:
                        taken = f"({taken},)"
                    self._unpack([atom.args[c] for c in columns], taken, scope)
                return self._level(rest, scope)
            if lazy is not None:
                source = self._ask(lazy, asked, scope)
            else:
                source = f"{path.name}.get({asked}, ())" if keys else path.name
        inner = _Scope(
            scope.bound,
            scope.ready,
            scope.one,
            scope.loops + 1,
            scope.nested + 1,
            scope.match,
            scope.needed,
            scope.calls * max(self.relations.fan(atom.predicate, key), 0.05),
        )
        targets: list[str] = []
        conditions: list[str] = []
        for column in columns:
            arg = atom.args[column]
            if arg in later or arg >= 0 or atom.args.count(arg) > 1:
                names, tests = self._targets([arg], inner)
                targets += names
                conditions += tests
            else:
                targets.append("_")
        self.line(f"for {', '.join(targets)} in {source}:")
        place = len(self.lines)
        self.indent += 1
        self._if(conditions)
        before = self.indent
        work = self._level(rest, inner) * most
        assert before > start
        self.indent = start
        if work > WORK_BETWEEN_TICKS:
            self.ticks = True
            pad = " " * (start + 1)
            look = f"if n < 0: n = tick({self.size}, {self.predicate})"
            self.lines[place:place] = [f"{pad}n -= 1", f"{pad}{look}"]
            work = 1
        self._break_out(scope)
        return work

    def _break_out(self, scope: _Scope) -> None:
        """After a loop: leave the loop around it too where this one was left by a match."""
        if scope.one and scope.loops and not scope.match.leaves:
            self.line("else: continue")
            self.line("break")

    def _choose(self, items: list[_Item], scope: _Scope) -> _Item:
        best: _Item | None = None
        least = 0.0
        for item in items:
            atom = item.what
            if not isinstance(atom, FlatAtom) or item.negative:
                continue
            if item.first:
                return item
            keys = tuple(c for c, a in enumerate(atom.args) if a >= 0 or a in scope.bound)
            fan = self.relations.fan(atom.predicate, keys)
            if best is None or fan < least:
                best, least = item, fan
        if best is None:
            raise RulesError("a rule has a variable that no positive literal of its body binds")
        return best

    def _helper(self, items: list[_Item], scope: _Scope) -> int:
        """Write the rest of a deep nest as a generator function that yields what it binds."""
        name = f"h{self.relations.fresh()}"
        given = sorted(scope.bound, reverse=True)
        found = sorted(scope.needed - scope.bound, reverse=True)
        arguments = ", ".join(filter(None, [self.parameters, *map(value, given)]))
        writer = FunctionWriter(self.relations, arguments)
        result = f"yield ({''.join(f'{value(v)}, ' for v in found)})"
        match = Match(lambda: writer.line(result))
        writer._level(items, _Scope(scope.bound, frozenset(), False, 0, 0, match, scope.needed))
        self.helpers += [*writer.helpers, *writer.function(name, ["if 0: yield"])]
        targets = "".join(f"{value(v)}, " for v in found) or "_"
        self.line(f"for {targets} in {name}({arguments}):")
        start = self.indent
        self.indent += 1
        inner = _Scope(
            scope.bound | scope.needed,
            scope.ready,
            scope.one,
            scope.loops + 1,
            scope.nested + 1,
            scope.match,
            scope.needed,
        )
        self._match(inner)
        self.indent = start
        self._break_out(scope)
        return 1

    def function(self, name: str, start: Sequence[str] = (), end: Sequence[str] = ()) -> list[str]:
        """The lines of the whole function, loads first."""
        lines = [f"def {name}({self.parameters}):"]
        lines += [f" {load}" for load in self.loads.values()]
        if self.ticks:
            lines.append(" n = 16")
        lines += [f" {text}" for text in start]
        lines += self.lines
        lines += [f" {text}" for text in end]
        return lines


def _components(items: list[_Item], bound: frozenset[int]) -> list[list[_Item]]:
    """Items grouped so that different groups share no unbound variable, in a fixed order."""
    groups: list[tuple[set[int], list[_Item]]] = []
    for item in items:
        free = set(item.variables - bound)
        mine: tuple[set[int], list[_Item]] = (free, [item])
        others = []
        for group in groups:
            if group[0] & free:
                mine = (mine[0] | group[0], group[1] + mine[1])
            else:
                others.append(group)
        groups = [*others, mine]
    return [g[1] for g in groups]
