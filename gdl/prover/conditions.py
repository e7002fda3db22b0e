"""Conditions of a join: the code that tests literals and builds terms whose variables are bound."""

from __future__ import annotations

from collections.abc import Sequence

from gdl.compile.program import Build, FlatAtom
from gdl.prover.access_path import AccessPath, row, value
from gdl.prover.function_source import FunctionSource, Scope
from gdl.prover.join_order import Item, share


def write_tests(writer: FunctionSource, items: list[Item], scope: Scope) -> list[Item]:
    """Write all tests whose variables are bound, cheap ones first, until the code is too deep; return
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
    """The test of an item, and whether statements had to be written before it (they stand behind
    the conditions ``before``). Unbound variables are projected away."""
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
    """Assign a row of arguments; compare where a variable is bound already."""
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


def _known(args: Sequence[int], scope: Scope) -> bool:
    return all(a >= 0 or a in scope.bound for a in args)


def _buildable(build: Build, scope: Scope) -> bool:
    return _known([build.value], scope) or _known(build.args, scope)


def _build(writer: FunctionSource, build: Build, scope: Scope) -> None:
    functor = writer.relations.functor(build.functor)
    arguments = f"({', '.join(map(value, build.args))},)"
    if _known(build.args, scope):
        if _known([build.value], scope):
            writer.when([f"build({functor}, {arguments}) == {value(build.value)}"])
        else:
            writer.line(f"{value(build.value)} = build({functor}, {arguments})")
            scope.bound |= {build.value}
        return
    parts = writer.name("t")
    writer.line(f"{parts} = take({functor}, {len(build.args)}, {value(build.value)})")
    writer.when([f"{parts} is not None"])
    unpack(writer, build.args, parts, scope)
