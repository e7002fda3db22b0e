"""Code for strata: the functions that compute whole relations, or the rows of one key.

A plain stratum is a sequence of nested loops; a recursive one is evaluated semi-naively
(each round joins the rows that the last one found with all), or top-down with memos where it
is asked key by key, or, where that leads in circles, semi-naively after a magic rewriting.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gdl.compile.magic_sets import rewrite
from gdl.compile.program import FlatAtom, FlatClause
from gdl.compile.stratify import Stratum
from gdl.prover.access_path import AccessKind, AccessPath, Key, row, variables
from gdl.prover.estimates import Estimates
from gdl.prover.function_source import MatchCode
from gdl.prover.join_code import FunctionWriter
from gdl.prover.limits import Busy, Guard
from gdl.prover.schema import Schema
from gdl.prover.table_slots import TableSlots


class StrataCode:
    """Generates the functions of a program; the writer's view of its relations.

    Attributes:
        paths: where the generated functions are and what they read.
    """

    def __init__(self, schema: Schema, estimates: Estimates, guard: Guard) -> None:
        self._schema = schema
        self._estimates = estimates
        self._guard = guard
        self._local: dict[int, AccessPath] = {}
        self._local_indexes: dict[Key, AccessPath] = {}
        self._calls: dict[Key, float] = {}
        self.paths = TableSlots(schema, self._relation, self._call)
        self.paths.namespace.update(tick=guard.tick, many=guard.many, build=guard.build, take=guard.take)
        self.fresh = self.paths.fresh
        self.functor = guard.functor
        self.fan = estimates.fan
        self.most = estimates.most
        self.scanned = estimates.scanned

    def forget(self) -> None:
        """Generate all code anew when it is next needed."""
        self.paths.forget_code()
        self._estimates.forget()
        self._calls.clear()

    # --- what the writer asks (access.Relations) -------------------------------------------
    def path(self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...]) -> AccessPath:
        """See :class:`gdl.prover.access_path.Relations`."""
        if predicate not in self._local:
            return self.paths.path(predicate, keys, values)
        if not keys and len(values) == self._schema.arity[predicate]:
            return self._local[predicate]
        key = predicate, keys, values
        if key not in self._local_indexes:
            kind = AccessKind.LISTS if keys else AccessKind.ROWS
            self._local_indexes[key] = AccessPath(f"x{len(self._local_indexes)}", kind, local=True)
        return self._local_indexes[key]

    def lazy(
        self, predicate: int, keys: tuple[int, ...], values: tuple[int, ...], calls: float
    ) -> AccessPath | None:
        """See :class:`gdl.prover.access_path.Relations`."""
        schema = self._schema
        if not keys or predicate in self._local or predicate in schema.static or schema.given[predicate]:
            return None
        if not self._estimates.cheaper(predicate, keys, calls):
            return None
        key = predicate, keys, values
        self._calls[key] = self._calls.get(key, 0.0) + calls
        return self.paths.lazily(key)

    def effort(self, predicate: int) -> int:
        """See :class:`gdl.prover.access_path.Relations`."""
        return 1 if predicate in self._schema.static else 2 if self._schema.given[predicate] else 3

    # --- whole relations ---------------------------------------------------------------------
    def static(self, stratum: Stratum) -> list[Any]:
        """Compute the relations of a static stratum, in the order of its predicates."""
        name = f"i{self.fresh()}"
        self.paths.execute(self._function(stratum, name, None))
        found: list[Any] = self.paths.namespace.pop(name)()
        return found

    def _relation(self, predicate: int) -> None:
        """Compile the function that computes a dynamic relation."""
        self.paths.execute(self._function(self._schema.stratum(predicate), f"g{predicate}", predicate))

    def _function(self, stratum: Stratum, name: str, wanted: int | None) -> list[str]:
        """The function that stores and returns one relation of a stratum; without a wanted
        one, that returns all."""
        writer = FunctionWriter(self, "" if wanted is None else self.paths.parameters(wanted))
        writer.predicate = -1 if wanted is None else wanted
        results = {p: f"r{p}" if self._schema.arity[p] else f"bool(r{p})" for p in stratum.predicates}
        start = [f"r{p} = set({self._facts(p)})" for p in stratum.predicates]
        if stratum.recursive:
            start += self._fixpoint(writer, stratum)
        else:
            (predicate,) = stratum.predicates
            if not self._schema.arity[predicate]:
                return self._truth(writer, stratum, name, wanted)
            start.append(f"add = r{predicate}.add")
            writer.size = f"len(r{predicate})"
            for clause in stratum.clauses:
                writer.clause(clause, _adding(writer, clause, predicate))
        total = writer.size if not stratum.recursive else _total(stratum.predicates)
        end = [f"if {total} > {self._guard.threshold(writer.predicate)}: many({total}, {writer.predicate})"]
        if wanted is None:
            end.append(f"return [{', '.join(results.values())}]")
        else:
            table = self.paths.table(wanted)
            end += [f"{table}[{self.paths.slot(p)}] = {found}" for p, found in results.items()]
            end.append(f"return {results[wanted]}")
        return [*writer.helpers, *writer.function(name, start, end)]

    def _facts(self, predicate: int) -> str:
        """The source of the rows that a relation starts with."""
        facts = self._schema.facts(predicate)
        if not facts:
            return ""
        rows = self._schema.relation(predicate, facts)
        return self.paths.constant(rows if self._schema.arity[predicate] else {()})

    def _truth(self, writer: FunctionWriter, stratum: Stratum, name: str, wanted: int | None) -> list[str]:
        """The function of a relation without arguments: it ends at the first match."""
        (predicate,) = stratum.predicates
        if wanted is None:
            found, missed = ["return [True]"], ["return [False]"]
        else:
            store = f"{self.paths.table(predicate)}[{self.paths.slot(predicate)}] = "
            found, missed = [f"{store}True", "return True"], [f"{store}False", "return False"]
        if self._schema.facts(predicate):
            return writer.function(name, found)
        for clause in stratum.clauses:
            writer.clause(clause, _leaving(writer, found), one=True)
        return [*writer.helpers, *writer.function(name, [], missed)]

    # --- recursion -----------------------------------------------------------------------------
    def _fixpoint(self, writer: FunctionWriter, stratum: Stratum) -> list[str]:
        """Write the rounds of a recursive stratum; the statements that must stand before."""
        members = stratum.predicates
        base = [c for c in stratum.clauses if not any(a.predicate in members for a in c.positives)]
        others = [c for c in stratum.clauses if c not in base]
        self._open(members)
        try:
            writer.size = _total(members)
            for clause in base:
                writer.clause(clause, _collecting(writer, clause, "r"))
            lines = writer.lines
            rounds = self._rounds(writer, members, others)
            indexes = dict(self._local_indexes)
        finally:
            self._close()
        lines += [f" e{p} = r{p}" for p in members]
        lines += self._grow(indexes, 1)
        lines += self._loop(members, rounds, indexes, writer.predicate)
        writer.lines = lines
        return [f"{x.name} = {'defaultdict(list)' if key[1] else 'set()'}" for key, x in indexes.items()]

    def _open(self, members: Sequence[int]) -> None:
        self._local = {p: AccessPath(f"r{p}", AccessKind.ROWS, local=True) for p in members}
        self._local_indexes = {}
        self._estimates.local = frozenset(members)

    def _close(self) -> None:
        self._local = {}
        self._local_indexes = {}
        self._estimates.local = frozenset()

    def _rounds(
        self, writer: FunctionWriter, members: Sequence[int], clauses: Sequence[FlatClause]
    ) -> list[str]:
        """The joins of one round: each clause, once for each literal of the stratum that may
        take its rows from the last round."""
        writer.lines = []
        writer.indent = 2
        writer.size = " + ".join(f"len(r{p}) + len(n{p})" for p in members)
        for clause in clauses:
            for atom in clause.positives:
                if atom.predicate in self._local:
                    news = AccessPath(f"e{atom.predicate}", AccessKind.ROWS, local=True)
                    writer.clause(clause, _collecting(writer, clause, "n"), atom, news)
        return writer.lines

    def _loop(
        self, members: Sequence[int], rounds: list[str], indexes: dict[Key, AccessPath], predicate: int
    ) -> list[str]:
        """The loop over rounds, until one finds nothing new."""
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
        """Add the new rows to the indexes of the relations that are being computed."""
        lines = []
        pad = " " * indent
        for (p, keys, values), path in indexes.items():
            columns = ", ".join(
                f"v{c}" if c in keys or c in values else "_" for c in range(self._schema.arity[p])
            )
            asked, found = row([-1 - c for c in keys]), row([-1 - c for c in values])
            if keys:
                lines.append(f"{pad}for {columns} in e{p}: {path.name}[{asked}].append({found})")
            elif values:
                lines.append(f"{pad}for {columns} in e{p}: {path.name}.add({found})")
            else:
                lines.append(f"{pad}if e{p}: {path.name}.add(1)")
        return lines

    # --- key by key ------------------------------------------------------------------------------
    def _call(self, key: Key) -> None:
        """Compile the function that computes the rows of one key."""
        predicate, keys, _ = key
        stratum = self._schema.stratum(predicate)
        if stratum.recursive and not self._estimates.top_down(predicate, keys):
            self.paths.execute(self._magic(stratum, key))
        else:
            self.paths.execute(self._top_down(stratum, key))

    def _top_down(self, stratum: Stratum, key: Key) -> list[str]:
        predicate, keys, values = key
        name = self.paths.lazy[key].name
        writer = FunctionWriter(self, f"{self.paths.parameters(predicate)}, k")
        store = f"{self.paths.table(predicate)}[{self.paths.lazy_slot(key)}][k] = "
        parts = ["k"] if len(keys) == 1 else [f"k{i}" for i in range(len(keys))]
        start = [] if len(keys) == 1 else [f"{', '.join(parts)} = k"]
        if stratum.recursive:
            start.append(f"{store}{self.paths.constant(Busy((predicate, keys)))}")
        facts: dict[Any, Any] = {}
        for fact in self._schema.facts(predicate):
            facts.setdefault(_plain(fact, keys), set()).add(_plain(fact, values))
        found = [f"{store}True", "return True"]
        if values:
            start.append(f"o = set({self.paths.constant(facts)}.get(k, ()))" if facts else "o = set()")
            start.append("add = o.add")
            writer.size = "len(o)"
        elif facts:
            start.append(f"if k in {self.paths.constant(facts)}:")
            start += [f" {line}" for line in found]
        for clause in stratum.clauses:
            if clause.head.predicate != predicate:
                continue  # of another member of a mutual recursion
            bound = writer.bind([clause.head.args[c] for c in keys], parts)
            wanted = [clause.head.args[c] for c in values]
            match = _asked(writer, row(wanted)) if values else _leaving(writer, found)
            writer.clause(
                clause,
                match,
                one=not values,
                bound=bound,
                needed=variables(wanted),
                calls=self._calls.get(key, 1.0),
            )
            writer.indent = 1
        end = [f"{store}o", "return o"] if values else [f"{store}False", "return False"]
        return [*writer.helpers, *writer.function(f"q{name}", start, end)]

    def _magic(self, stratum: Stratum, key: Key) -> list[str]:
        """What was asked and answered is kept in the tables: a new key only adds to it."""
        predicate, keys, values = key
        schema, paths = self._schema, self.paths
        clauses = list(stratum.clauses)
        for p in stratum.predicates:
            clauses += [FlatClause(FlatAtom(p, fact), (), (), (), (), 0) for fact in schema.facts(p)]
        members = frozenset(stratum.predicates)
        magic = rewrite(clauses, members, (predicate, keys), self.fan, schema.new_predicate)
        seed, answer = magic.asked[predicate, keys], magic.answers[predicate, keys]
        made = sorted([*magic.answers.values(), *magic.asked.values()])
        writer = FunctionWriter(self, f"{paths.parameters(predicate)}, k")
        self._open(made)
        try:
            rounds = self._rounds(writer, made, magic.clauses)
            result = self.path(answer, keys if values else (), values or keys)
            indexes = dict(self._local_indexes)
        finally:
            self._close()
        table = paths.table(predicate)
        number = paths.new_slot(schema.moves(predicate))
        kept = [f"r{p}" for p in made] + [x.name for x in indexes.values()]
        fresh = ["set()" for _ in made] + ["defaultdict(list)" if x[1] else "set()" for x in indexes]
        start = [
            f"s = {table}[{number}]",
            "if s is None:",
            f" s = {table}[{number}] = ({', '.join(fresh)},)",
            f"{', '.join(kept)}, = s",
        ]
        lines = [f" e{p} = set()" for p in made if p != seed]
        lines += [f" e{seed} = {{k}}", f" e{seed} -= r{seed}", f" r{seed} |= e{seed}"]
        lines += self._grow({i: x for i, x in indexes.items() if i[0] == seed}, 1)
        lines += self._loop(made, rounds, indexes, -1)
        found = f"{result.name}.get(k, ())" if values else f"k in {result.name}"
        end = [f"o = {table}[{paths.lazy_slot(key)}][k] = {found}", "return o"]
        writer.lines = lines
        return [*writer.helpers, *writer.function(f"q{paths.lazy[key].name}", start, end)]


def _adding(writer: FunctionWriter, clause: FlatClause, predicate: int) -> MatchCode:
    """Heads go into the relation."""
    head = row(clause.head.args)
    return MatchCode(
        lambda: writer.line(f"add({head})"),
        fresh=lambda: f"{head} not in r{predicate}",
        row=clause.head.args,
        all_of=lambda name: writer.line(f"r{predicate} |= {name}"),
    )


def _collecting(writer: FunctionWriter, clause: FlatClause, target: str) -> MatchCode:
    """Heads go into what a round finds (``n``), or at once into the relation (``r``)."""
    predicate = clause.head.predicate
    head = row(clause.head.args) if clause.head.args else "()"
    return MatchCode(
        lambda: writer.line(f"{target}{predicate}.add({head})"),
        fresh=lambda: f"{head} not in r{predicate}",
    )


def _asked(writer: FunctionWriter, found: str) -> MatchCode:
    """The wanted columns go into the rows of the key."""
    return MatchCode(lambda: writer.line(f"add({found})"), fresh=lambda: f"{found} not in o")


def _leaving(writer: FunctionWriter, lines: list[str]) -> MatchCode:
    """The first match is enough."""

    def write() -> None:
        for line in lines:
            writer.line(line)

    return MatchCode(write, leaves=True)


def _total(members: Sequence[int]) -> str:
    return " + ".join(f"len(r{p})" for p in members)


def _plain(fact: tuple[int, ...], columns: tuple[int, ...]) -> Any:
    found = tuple([fact[c] for c in columns])
    return found[0] if len(found) == 1 else found
