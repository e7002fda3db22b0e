"""The tools for writing a join.

They are the source of one generated function as it grows, the scope of the place being written, the order of
a body's literals, and the code that tests literals and builds terms.

The order is greedy: the literal with the fewest expected matches always comes next. Parts of a body that
share no unbound variable are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gdl.compile.program import Build, FlatAtom, FlatClause, all_bound, variables_of
from gdl.errors import RulesError
from gdl.prover.schema import AccessPath, row, value
from gdl.prover.table_slots import Relations

MAX_INDENT = 80  # Python allows 100 levels; at most 20 are written between two tests of this limit


@dataclass(frozen=True, slots=True)
class MatchCode:
    """The code that handles a match of a body.

    Attributes:
        write: writes the code.
        leaves: whether the code leaves the function.
        fresh: returns the condition that the head is new; None if it is never asked for.
        row: the arguments of the head.
        all_of: writes the code for a relation (given by its variable) all of whose rows are matches.
    """

    write: Callable[[], None]
    leaves: bool = False
    fresh: Callable[[], str] | None = None
    row: tuple[int, ...] | None = None
    all_of: Callable[[str], None] | None = None


@dataclass(slots=True)
class Scope:
    """The knowledge at one place of the code.

    Attributes:
        bound: variables that have their values.
        ready: variables of paths that surely hold a value.
        first_only: whether the first match is enough from here on.
        loops: loops around this place that a match must break out of.
        nested: all loops around this place.
        match: handles a match.
        needed: variables that the match reads.
        calls: the expected number of times that this place is reached.
    """

    bound: frozenset[int]
    ready: frozenset[str]
    first_only: bool
    loops: int
    nested: int
    match: MatchCode
    needed: frozenset[int]
    calls: float = 1.0


class FunctionSource:
    """The lines of one function, and the loads of the relations that it reads.

    Args:
        relations: the relations that it can read.
        parameters: its parameters, as in the source.

    Attributes:
        lines: the statements so far, indented.
        indent: the present indentation.
        loads: variable -> the statement at the start that loads its relation.
        helpers: the lines of the functions that must stand before it.
        locals: the local paths that it reads.
        ticks: whether it counts down to the next check of the limits.
    """

    def __init__(self, relations: Relations, parameters: str) -> None:
        self.relations = relations
        self.parameters = parameters
        self.lines: list[str] = []
        self.indent = 1
        self.loads: dict[str, str] = {}
        self.helpers: list[str] = []
        self.locals: set[str] = set()
        self.ticks = False
        self._names = 0

    def deep(self) -> bool:
        """Whether the following code must go into a function of its own."""
        return self.indent >= MAX_INDENT

    def line(self, *texts: str) -> None:
        """Append statements at the present indentation."""
        self.lines += [" " * self.indent + text for text in texts]

    def name(self, prefix: str) -> str:
        """A fresh local variable."""
        self._names += 1
        return f"{prefix}{self._names}"

    def when(self, conditions: Sequence[str]) -> None:
        """Go on only if all conditions hold."""
        if conditions:
            self.line(f"if {' and '.join(conditions)}:")
            self.indent += 1

    def read(self, path: AccessPath, scope: Scope) -> None:
        """Make sure that a path's variable holds its value here."""
        if path.local:
            self.locals.add(path.name)
        if path.loader:
            self.loads.setdefault(path.name, path.loader)
            if path.maker and path.name not in scope.ready:
                self.line(f"if {path.name} is None: {path.name} = {path.maker}")
                scope.ready |= {path.name}

    def function(
        self, name: str, start: Sequence[str] = (), end: Sequence[str] = (), ticks: int = 16
    ) -> list[str]:
        """The lines of the function, loads first, after those of its helpers. ``ticks`` is the number until
        the first check of the limits."""
        first = [*self.loads.values(), *([f"n = {ticks}"] if self.ticks else []), *start]
        head = [*self.helpers, f"def {name}({self.parameters}):"]
        return [*head, *(f" {text}" for text in first), *self.lines, *(f" {text}" for text in end)]


@dataclass(frozen=True, slots=True)
class Item:
    """A part of a body that has no place in the order yet.

    Attributes:
        what: a literal, a build, or the two sides of a distinct.
        negative: whether a literal is negated.
        variables: all variables in it.
        first: whether it is the literal that the outermost loop must go over.
    """

    what: FlatAtom | Build | tuple[tuple[int, ...], tuple[int, ...]]
    negative: bool
    variables: frozenset[int]
    first: bool = False


def body_items(clause: FlatClause, first: FlatAtom | None = None) -> list[Item] | None:
    """The parts of a body, of which the positive literal ``first`` must come first; None if one of its
    distincts can never hold."""
    items = [Item(atom, False, variables_of(atom.args), atom is first) for atom in clause.positives]
    items += [Item(atom, True, variables_of(atom.args)) for atom in clause.negatives]
    for left, right in clause.distincts:
        open_pairs = [(a, b) for a, b in zip(left, right, strict=True) if a != b]
        if any(a >= 0 and b >= 0 for a, b in open_pairs):
            continue
        if not open_pairs:
            return None
        pair = tuple(a for a, _ in open_pairs), tuple(b for _, b in open_pairs)
        items.append(Item(pair, False, variables_of(pair[0] + pair[1])))
    items += [Item(build, False, variables_of((build.value, *build.args))) for build in clause.builds]
    return items


def components(items: list[Item], bound: frozenset[int]) -> list[list[Item]]:
    """Items grouped so that different groups share no unbound variable, in a fixed order."""
    groups: list[tuple[set[int], list[Item]]] = []
    for item in items:
        free = set(item.variables - bound)
        joined: tuple[set[int], list[Item]] = (free, [item])
        separate = []
        for group in groups:
            if group[0] & free:
                joined = (joined[0] | group[0], group[1] + joined[1])
            else:
                separate.append(group)
        groups = [*separate, joined]
    return [g[1] for g in groups]


def single(part: list[Item], bound: frozenset[int]) -> bool:
    """Whether a part is one literal without a variable that would need a comparison."""
    atom = part[0].what
    if len(part) > 1 or not isinstance(atom, FlatAtom) or part[0].first:
        return False
    free = [a for a in atom.args if a < 0 and a not in bound]
    return len(set(free)) == len(free)


def share(items: list[Item], bound: frozenset[int], relations: Relations) -> float:
    """The share of all cases in which positive literals are expected to have a match."""
    matches = 1.0
    left = [i.what for i in items if isinstance(i.what, FlatAtom) and not i.negative]
    while left:
        fans = [relations.fan(atom.predicate, atom.bound_columns(bound)) for atom in left]
        best = fans.index(min(fans))
        matches *= fans[best]
        bound |= variables_of(left.pop(best).args)
    return min(1.0, max(matches, 0.02))


def choose(items: list[Item], bound: frozenset[int], relations: Relations) -> Item:
    """The positive literal to loop over next. Raises RulesError if there is none, so that a variable of the
    rule can get no value."""
    fans: list[tuple[float, int, Item]] = []
    for number, item in enumerate(items):
        if isinstance(item.what, FlatAtom) and not item.negative:
            if item.first:
                return item
            fans.append((relations.fan(item.what.predicate, item.what.bound_columns(bound)), number, item))
    if not fans:
        raise RulesError("a rule has a variable that no positive literal of its body binds")
    return min(fans)[2]


def write_tests(writer: FunctionSource, items: list[Item], scope: Scope) -> list[Item]:
    """Write all tests whose variables are bound, cheap ones first, until the code is too deep. Return
    the remaining items."""
    while True:
        builds = [i for i in items if isinstance(i.what, Build) and _buildable(i.what, scope)]
        tests = [
            i for i in items if i.variables <= scope.bound and not isinstance(i.what, Build) and not i.first
        ]
        if writer.deep() or not (tests or builds):
            return items
        conditions: list[str] = []
        written: list[Item] = []
        tests.sort(key=lambda i: _cost(writer, i))
        for item in tests:
            if writer.deep():
                break
            written.append(item)
            test, waits = condition(writer, item, scope, conditions)
            if waits:
                conditions = []
            conditions.append(test)
        writer.when(conditions)
        scope.calls *= share(written, scope.bound, writer.relations)
        done = {id(i) for i in written}
        for item in builds:
            assert isinstance(item.what, Build)
            if _buildable(item.what, scope) and not writer.deep():
                _build(writer, item.what, scope)
                done.add(id(item))
        items = [i for i in items if id(i) not in done]


def _cost(writer: FunctionSource, item: Item) -> int:
    return writer.relations.effort(item.what.predicate) if isinstance(item.what, FlatAtom) else 0


def condition(
    writer: FunctionSource, item: Item, scope: Scope, before: Sequence[str] = ()
) -> tuple[str, bool]:
    """The test of an item, and whether statements had to be written before it (after the conditions
    ``before``). Unbound variables are projected away."""
    what = item.what
    if isinstance(what, tuple):
        pairs = [f"{value(a)} != {value(b)}" for a, b in zip(*what, strict=True)]
        return (pairs[0] if len(pairs) == 1 else f"({' or '.join(pairs)})"), False
    assert isinstance(what, FlatAtom)
    columns = what.bound_columns(scope.bound)
    key = row([what.args[c] for c in columns])
    lazy = writer.relations.lazy_path(what.predicate, columns, (), scope.calls)
    if lazy is not None:
        writer.when(before)
        answer = ask(writer, lazy, key, scope)
        return f"not {answer}" if item.negative else answer, True
    path = writer.relations.path(what.predicate, (), columns)
    waits = bool(path.maker) and path.name not in scope.ready
    if waits:
        writer.when(before)
    writer.read(path, scope)
    if not columns:
        return (f"not {path.name}" if item.negative else path.name), waits
    return f"{key} {'not in' if item.negative else 'in'} {path.name}", waits


def ask(writer: FunctionSource, path: AccessPath, key: str, scope: Scope) -> str:
    """Write the look-up of a key in a lazy path; return the variable that holds its rows (or the bool)."""
    writer.read(path, scope)
    answer = writer.name("t")
    writer.line(f"{answer} = {path.name}.get({key})", f"if {answer} is None: {answer} = {path.call}{key})")
    return answer


def unpack(writer: FunctionSource, args: Sequence[int], source: str, scope: Scope) -> None:
    """Assign a row of arguments to variables, and compare if a variable is bound already."""
    names, conditions = targets(writer, args, scope)
    writer.line(f"{', '.join(names)}{',' if len(names) == 1 else ''} = {source}")
    writer.when(conditions)


def targets(writer: FunctionSource, args: Sequence[int], scope: Scope) -> tuple[list[str], list[str]]:
    """Names to unpack a row into, and the comparisons that must hold then."""
    names: list[str] = []
    conditions: list[str] = []
    for arg in args:
        if arg < 0 and arg not in scope.bound:
            names.append(value(arg))
            scope.bound |= {arg}
        else:
            temporary = writer.name("u")
            names.append(temporary)
            conditions.append(f"{temporary} == {value(arg)}")
    return names, conditions


def _buildable(build: Build, scope: Scope) -> bool:
    return all_bound([build.value], scope.bound) or all_bound(build.args, scope.bound)


def _build(writer: FunctionSource, build: Build, scope: Scope) -> None:
    functor = writer.relations.functor(build.functor)
    arguments = f"({', '.join(map(value, build.args))},)"
    if all_bound(build.args, scope.bound):
        if all_bound([build.value], scope.bound):
            writer.when([f"build({functor}, {arguments}) == {value(build.value)}"])
        else:
            writer.line(f"{value(build.value)} = build({functor}, {arguments})")
            scope.bound |= {build.value}
        return
    parts = writer.name("t")
    writer.line(f"{parts} = take({functor}, {len(build.args)}, {value(build.value)})")
    writer.when([f"{parts} is not None"])
    unpack(writer, build.args, parts, scope)
