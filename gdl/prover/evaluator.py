"""Bottom-up evaluation of flat Datalog on demand, by generated Python functions.

Relations are sets of rows. Static ones are computed once. A relation that depends on the state (and the
moves) is computed when a rule needs it, whole or key by key, and stored in the tables of that state (move).

A plain stratum is a sequence of nested loops. A recursive one is evaluated semi-naively: each round joins
the new rows of the last one with all rows. Key by key it is evaluated top-down with memos. If that leads in
circles, it is evaluated semi-naively after a rewriting with magic sets.

One flat clause becomes nested loops of Python source. :mod:`gdl.prover.conditions` orders the literals; tests
run as soon as their variables are bound. A part of a body that binds nothing for the head needs only one
match. Names in the source are made of numbers: nothing of the rules' own text gets into it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gdl.compile.magic_sets import MagicSets
from gdl.compile.program import FlatAtom, FlatClause, Program, variables_of
from gdl.compile.stratify import Dependence, Stratum
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
from gdl.prover.estimates import Estimates
from gdl.prover.limits import Busy, CyclicError, Guard, MoreRowsError, ProverLimits
from gdl.prover.schema import AccessPath, Key, Rows, Schema, Tables, project, reads, row, split_row, value
from gdl.prover.table_slots import Relations

WORK_BETWEEN_TICKS = 300_000  # loop iterations, at most, between two checks of the limits
MAX_NESTED_LOOPS = 16  # Python allows 20 nested blocks; deeper loops go into functions of their own
MAX_VARIABLES = 400  # of one rule; more take minutes to plan, and their loops nest too deeply to run


class _FunctionWriter(FunctionSource):
    """Writes the loops of one function.

    Attributes:
        size: the expression for the number of rows so far.
        predicate: the predicate whose relation the function computes, -1 if it must be computed whole.
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
        first_only: bool = False,
        bound: frozenset[int] = frozenset(),
        needed: frozenset[int] | None = None,
        calls: float = 1.0,
    ) -> None:
        """Write the loops of a clause.

        Args:
            clause: the clause.
            match: handles each match.
            first: the positive literal that the outermost loop must go over.
            first_path: the path of the rows of ``first``.
            first_only: whether the first match is enough.
            bound: variables that have their values already.
            needed: variables that the match reads; those of the head if not given.
            calls: the expected number of calls of the function.

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
        """Assign the values of some variables to arguments, and go on only if they agree. Return the
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
        """Go on only if an independent part of the body has a match."""
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
        columns = tuple(
            [c for c, a in enumerate(atom.args) if c not in keys and (a in later or atom.args.count(a) > 1)]
        )
        if chosen.first or self._scans(atom, keys, columns, scope):
            path = self._whole(chosen, atom)
            self.read(path, scope)
            if not atom.args:
                self.when([path.name])
                return self._level(rest, scope)
            return self._rows(path.name, atom, range(len(atom.args)), keys, rest, scope)
        if not columns:
            test, _ = condition(self, Item(atom, False, chosen.variables), scope)
            self.when([test])
            return self._level(rest, scope)
        key = row([atom.args[c] for c in keys])
        # The expected calls of this literal count twice, here and in _scans: plans depend on that.
        lazy = self.relations.lazy_path(atom.predicate, keys, columns, scope.calls)
        if lazy is not None:
            return self._rows(ask(self, lazy, key, scope), atom, columns, keys, rest, scope)
        path = self.relations.path(atom.predicate, keys, columns)
        self.read(path, scope)
        if path.single:
            self._only_row(f"{path.name}.get({key})", [atom.args[c] for c in columns], scope)
            return self._level(rest, scope)
        source = f"{path.name}.get({key}, ())" if keys else path.name
        return self._rows(source, atom, columns, keys, rest, scope)

    def _whole(self, chosen: Item, atom: FlatAtom) -> AccessPath:
        """The path to all rows of the literal."""
        if chosen.first:
            assert self._first_path is not None
            return self._first_path
        return self.relations.path(atom.predicate, (), tuple(range(len(atom.args))))

    def _all_match(self, chosen: Item, atom: FlatAtom, scope: Scope) -> bool:
        """Handle all rows at once if each is a match as it is; return whether they are."""
        match, args = scope.match, atom.args
        distinct = len(set(args)) == len(args) and all(a < 0 and a not in scope.bound for a in args)
        if not distinct or match.all_of is None or match.row != args:
            return False
        path = self._whole(chosen, atom)
        self.read(path, scope)
        match.all_of(path.name)
        return True

    def _scans(self, atom: FlatAtom, keys: tuple[int, ...], columns: tuple[int, ...], scope: Scope) -> bool:
        """Whether to go over all rows although some columns are bound."""
        return (
            bool(columns)
            and self.relations.lazy_path(atom.predicate, keys, columns, scope.calls) is None
            and all(atom.args[c] >= 0 for c in keys)
            and scope.nested == 0
            and self.relations.scanned(atom.predicate, keys)
        )

    def _only_row(self, source: str, args: list[int], scope: Scope) -> None:
        """Go on only if a key has a row, and take that row apart."""
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
        """After a loop that a match has left: leave the loop around it too."""
        if scope.first_only and scope.loops and not scope.match.leaves:
            self.line("else: continue", "break")

    def _helper(self, items: list[Item], scope: Scope) -> int:
        """Write the rest of a body as a generator function that yields the variables it binds."""
        name = f"h{self.relations.fresh()}"
        read = frozenset().union(*(i.variables for i in items))
        inputs = sorted(scope.bound & read, reverse=True)
        outputs = "".join(f"{value(v)}, " for v in sorted(scope.needed - scope.bound, reverse=True))
        writer = _FunctionWriter(self.relations, self.parameters)
        writer._first_path = self._first_path
        match = MatchCode(lambda: writer.line(f"yield ({outputs})"))
        inside = Scope(scope.bound, frozenset(), False, 0, 0, match, scope.needed, scope.calls)
        work = writer._level(items, inside)
        # Only now all local relations are known that the helper, or one that it calls, reads.
        self.locals |= writer.locals
        arguments = ", ".join(filter(None, [self.parameters, *map(value, inputs), *sorted(writer.locals)]))
        writer.parameters = arguments
        # A helper that counts checks the limits on entry: it may be called often, each time for little work.
        self.helpers += writer.function(name, ["if 0: yield"], ticks=0)
        self.line(f"for {outputs or '_'} in {name}({arguments}):")
        start = self.indent
        self.indent += 1
        if writer.ticks:
            # The rows that its matches produce are counted here, because they are stored here.
            self._tick(len(self.lines), self.indent)
            work = 1
        self._match(replace(scope, loops=scope.loops + 1))
        self.indent = start
        self._break_out(scope)
        return work


class StrataCode:
    """Generates the functions of a program; ``relations`` holds them and the relations that they read."""

    def __init__(self, schema: Schema, estimates: Estimates, guard: Guard) -> None:
        self._schema = schema
        self._estimates = estimates
        self._guard = guard
        self.relations = Relations(schema, estimates, guard, self._relation, self._call)

    def static(self, stratum: Stratum) -> list[Any]:
        """Compute the relations of a static stratum, in the order of its predicates."""
        name = f"i{self.relations.fresh()}"
        self.relations.execute(self._function(stratum, name, None))
        relations: list[Any] = self.relations.namespace.pop(name)()
        return relations

    def _relation(self, predicate: int) -> None:
        """Compile the function that computes a dynamic relation."""
        self.relations.ask(self._schema.stratum(predicate).predicates)
        self.relations.execute(self._function(self._schema.stratum(predicate), f"g{predicate}", predicate))

    def _function(self, stratum: Stratum, name: str, target: int | None) -> list[str]:
        """The function that computes a stratum: it stores the relations and returns the one of ``target``,
        or only returns all of them if ``target`` is None."""
        writer = _FunctionWriter(self.relations, "" if target is None else self.relations.parameters(target))
        writer.predicate = -1 if target is None else target
        results = {p: f"r{p}" if self._schema.arity[p] else f"bool(r{p})" for p in stratum.predicates}
        start = [f"r{p} = set({self._facts(p)})" for p in stratum.predicates]
        if not stratum.recursive and not self._schema.arity[stratum.predicates[0]]:
            return self._truth(writer, stratum, name, target)
        writer.size = total = _total(stratum.predicates)
        if stratum.recursive:
            start += self._fixpoint(writer, stratum)
        else:
            (predicate,) = stratum.predicates
            start.append(f"add = r{predicate}.add")
            for clause in stratum.clauses:
                writer.clause(clause, _adding(writer, clause))
        end = [f"if {total} > {self._guard.threshold(writer.predicate)}: done({total}, {writer.predicate})"]
        if target is None:
            end.append(f"return [{', '.join(results.values())}]")
        else:
            table = self.relations.table(target)
            end += [f"{table}[{self.relations.slot(p)}] = {result}" for p, result in results.items()]
            end.append(f"return {results[target]}")
        return writer.function(name, start, end)

    def _facts(self, predicate: int) -> str:
        """The source of the rows that a relation starts with."""
        facts = self._schema.facts(predicate)
        if not facts:
            return ""
        rows = self._schema.relation(predicate, facts)
        return self.relations.constant(rows if self._schema.arity[predicate] else {()})

    def _truth(self, writer: _FunctionWriter, stratum: Stratum, name: str, target: int | None) -> list[str]:
        """The function of a relation without arguments, which returns at the first match."""
        (predicate,) = stratum.predicates
        if target is None:
            holds, fails = ["return [True]"], ["return [False]"]
        else:
            store = f"{self.relations.table(predicate)}[{self.relations.slot(predicate)}] = "
            holds, fails = [f"{store}True", "return True"], [f"{store}False", "return False"]
        if self._schema.facts(predicate):
            return writer.function(name, holds)
        for clause in stratum.clauses:
            writer.clause(clause, _leaving(writer, holds), first_only=True)
        return writer.function(name, [], fails)

    def _fixpoint(self, writer: _FunctionWriter, stratum: Stratum) -> list[str]:
        """Write the rounds of a recursive stratum; return the statements that must precede them."""
        members = stratum.predicates
        base = [c for c in stratum.clauses if not any(a.predicate in members for a in c.positives)]
        recursive = [c for c in stratum.clauses if c not in base]
        with self.relations.local(members) as indexes:
            for clause in base:
                writer.clause(clause, _collecting(writer, clause, "r"))
            lines = writer.lines
            rounds = self._rounds(writer, members, recursive)
        lines += [f" e{p} = r{p}" for p in members]
        lines += self._grow(indexes, 1)
        lines += self._loop(members, rounds, indexes, writer.predicate)
        writer.lines = lines
        return [f"{x.name} = {'defaultdict(list)' if key[1] else 'set()'}" for key, x in indexes.items()]

    def _rounds(
        self, writer: _FunctionWriter, members: Sequence[int], clauses: Sequence[FlatClause]
    ) -> list[str]:
        """The joins of one round: each clause, once for each literal of the stratum that reads its rows
        from the last round."""
        writer.lines = []
        writer.indent = 2
        writer.size = " + ".join(f"len(r{p}) + len(n{p})" for p in members)
        for clause in clauses:
            for atom in clause.positives:
                if atom.predicate in members:
                    new_rows = AccessPath(f"e{atom.predicate}", local=True)
                    writer.clause(clause, _collecting(writer, clause, "n"), atom, new_rows)
        return writer.lines

    def _loop(
        self, members: Sequence[int], rounds: list[str], indexes: dict[Key, AccessPath], predicate: int
    ) -> list[str]:
        """The loop over rounds, until one gives no new rows."""
        lines = [f" while {' or '.join(f'e{p}' for p in members)}:"]
        lines += [f"  n{p} = set()" for p in members]
        lines += rounds
        for p in members:
            lines += [f"  e{p} = n{p} - r{p}", f"  r{p} |= e{p}"]
        lines += self._grow(indexes, 2)
        total = _total(members)
        lines.append(f"  if {total} > {self._guard.threshold(predicate)}: many({total}, {predicate})")
        return lines

    def _grow(self, indexes: dict[Key, AccessPath], indent: int) -> list[str]:
        """The statements that add the new rows to the indexes of the relations that are being computed."""
        lines = []
        for access, path in indexes.items():
            p, keys, values = access
            targets, key, result = split_row(access, self._schema.arity[p])
            if keys:
                lines.append(f"for {targets} in e{p}: {path.name}[{key}].append({result})")
            elif values:
                lines.append(f"for {targets} in e{p}: {path.name}.add({result})")
            else:
                lines.append(f"if e{p}: {path.name}.add(1)")
        return [" " * indent + line for line in lines]

    def _call(self, key: Key) -> None:
        """Compile the function that computes the rows of one key."""
        predicate, keys, _ = key
        stratum = self._schema.stratum(predicate)
        self.relations.ask(stratum.predicates)
        magic = stratum.recursive and not self._estimates.top_down(predicate, keys)
        self.relations.execute(self._magic(stratum, key) if magic else self._top_down(stratum, key))

    def _top_down(self, stratum: Stratum, key: Key) -> list[str]:
        """The function that joins the clauses for given key values, and stores the result."""
        predicate, keys, values = key
        name = self.relations.lazy[key].name
        writer = _FunctionWriter(self.relations, f"{self.relations.parameters(predicate)}, k")
        store = f"{self.relations.table(predicate)}[{self.relations.lazy_slot(key)}][k] = "
        parts = ["k"] if len(keys) == 1 else [f"k{i}" for i in range(len(keys))]
        start = [] if len(keys) == 1 else [f"{', '.join(parts)} = k"]
        if stratum.recursive:
            start.append(f"{store}{self.relations.constant(Busy((predicate, keys)))}")
        facts: dict[Any, Any] = {}
        rows = self._schema.facts(predicate)
        for columns, answer in zip(project(rows, keys), project(rows, values), strict=True):
            facts.setdefault(columns, set()).add(answer)
        holds = [f"{store}True", "return True"]
        if values:
            start.append(f"o = set({self.relations.constant(facts)}.get(k, ()))" if facts else "o = set()")
            start.append("add = o.add")
            writer.size = "len(o)"
        elif facts:
            start.append(f"if k in {self.relations.constant(facts)}:")
            start += [f" {line}" for line in holds]
        for clause in stratum.clauses:
            if clause.head.predicate != predicate:
                continue  # of another member of a mutual recursion
            bound = writer.bind([clause.head.args[c] for c in keys], parts)
            answer_args = [clause.head.args[c] for c in values]
            match = _answering(writer, row(answer_args)) if values else _leaving(writer, holds)
            calls = self.relations.calls(key)
            writer.clause(
                clause,
                match,
                first_only=not values,
                bound=bound,
                needed=variables_of(answer_args),
                calls=calls,
            )
            writer.indent = 1
        end = [f"{store}o", "return o"] if values else [f"{store}False", "return False"]
        return writer.function(f"q{name}", start, end)

    def _magic(self, stratum: Stratum, key: Key) -> list[str]:
        """The function that adds a new key to tables of all keys and answers, and completes these."""
        predicate, keys, values = key
        schema, relations = self._schema, self.relations
        clauses = list(stratum.clauses)
        for p in stratum.predicates:
            clauses += [FlatClause(FlatAtom(p, fact), (), (), (), (), 0) for fact in schema.facts(p)]
        members = frozenset(stratum.predicates)
        magic = MagicSets(clauses, members, (predicate, keys), relations.fan, schema.new_predicate)
        seed, answer = magic.keys[predicate, keys], magic.answers[predicate, keys]
        new = sorted([*magic.answers.values(), *magic.keys.values()])
        writer = _FunctionWriter(self.relations, f"{relations.parameters(predicate)}, k")
        with relations.local(new) as indexes:
            rounds = self._rounds(writer, new, magic.clauses)
            result = relations.path(answer, keys if values else (), values or keys)
        table = relations.table(predicate)
        number = relations.new_slot(schema.moves(predicate))
        names = [f"r{p}" for p in new] + [x.name for x in indexes.values()]
        empty = ["set()" for _ in new] + ["defaultdict(list)" if x[1] else "set()" for x in indexes]
        start = [
            f"s = {table}[{number}]",
            "if s is None:",
            f" s = {table}[{number}] = ({', '.join(empty)},)",
            f"{', '.join(names)}, = s",
        ]
        lines = [f" e{p} = set()" for p in new if p != seed]
        lines += [f" e{seed} = {{k}}", f" e{seed} -= r{seed}", f" r{seed} |= e{seed}"]
        lines += self._grow({i: x for i, x in indexes.items() if i[0] == seed}, 1)
        lines += self._loop(new, rounds, indexes, -1)
        answers = f"{result.name}.get(k, ())" if values else f"k in {result.name}"
        end = [f"o = {table}[{relations.lazy_slot(key)}][k] = {answers}", "return o"]
        writer.lines = lines
        return writer.function(f"q{relations.lazy[key].name}", start, end)


def _adding(writer: _FunctionWriter, clause: FlatClause) -> MatchCode:
    """A match adds the head to the relation."""
    head, relation = row(clause.head.args), f"r{clause.head.predicate}"
    return MatchCode(
        lambda: writer.line(f"add({head})"),
        fresh=lambda: f"{head} not in {relation}",
        row=clause.head.args,
        all_of=lambda name: writer.line(f"{relation} |= {name}"),
    )


def _collecting(writer: _FunctionWriter, clause: FlatClause, target: str) -> MatchCode:
    """A match adds the head to the new rows of a round (``n``), or directly to the relation (``r``)."""
    head, p = row(clause.head.args), clause.head.predicate
    return MatchCode(lambda: writer.line(f"{target}{p}.add({head})"), fresh=lambda: f"{head} not in r{p}")


def _answering(writer: _FunctionWriter, answer: str) -> MatchCode:
    """A match adds the target columns to the rows of the key."""
    return MatchCode(lambda: writer.line(f"add({answer})"), fresh=lambda: f"{answer} not in o")


def _leaving(writer: _FunctionWriter, lines: list[str]) -> MatchCode:
    """The first match is enough: its code leaves the function with these lines."""
    return MatchCode(lambda: writer.line(*lines), leaves=True)


def _total(members: Sequence[int]) -> str:
    return " + ".join(f"len(r{p})" for p in members)


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
        # For all static strata together; what is left then is computed when it is asked.
        self._static_until = time.monotonic() + limits.seconds
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
        in_time = not stratum.clauses or time.monotonic() < self._static_until
        if in_time and all(p in schema.static or p in stratum.predicates for p in reads(stratum)):
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
