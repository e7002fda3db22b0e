"""Code for strata: the functions that compute whole relations, or the rows of one key.

A plain stratum is a sequence of nested loops. A recursive one is evaluated semi-naively: each round joins
the new rows of the last one with all rows. Key by key it is evaluated top-down with memos or, where that
leads in circles, semi-naively after a rewriting with magic sets.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gdl.compile.magic_sets import MagicSets
from gdl.compile.program import FlatAtom, FlatClause, variables_of
from gdl.compile.stratify import Stratum
from gdl.prover.conditions import MatchCode
from gdl.prover.estimates import Estimates
from gdl.prover.join_code import FunctionWriter
from gdl.prover.limits import Busy, Guard
from gdl.prover.schema import AccessPath, Key, Schema, project, row, split_row
from gdl.prover.table_slots import Relations


class StrataCode:
    """Generates the functions of a program; ``relations`` has them and the relations that they read."""

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

    def _function(self, stratum: Stratum, name: str, wanted: int | None) -> list[str]:
        """The function that computes a stratum: it stores the relations and returns the wanted one, or
        just returns all."""
        writer = FunctionWriter(self.relations, "" if wanted is None else self.relations.parameters(wanted))
        writer.predicate = -1 if wanted is None else wanted
        results = {p: f"r{p}" if self._schema.arity[p] else f"bool(r{p})" for p in stratum.predicates}
        start = [f"r{p} = set({self._facts(p)})" for p in stratum.predicates]
        if not stratum.recursive and not self._schema.arity[stratum.predicates[0]]:
            return self._truth(writer, stratum, name, wanted)
        writer.size = total = _total(stratum.predicates)
        if stratum.recursive:
            start += self._fixpoint(writer, stratum)
        else:
            (predicate,) = stratum.predicates
            start.append(f"add = r{predicate}.add")
            for clause in stratum.clauses:
                writer.clause(clause, _adding(writer, clause))
        end = [f"if {total} > {self._guard.threshold(writer.predicate)}: done({total}, {writer.predicate})"]
        if wanted is None:
            end.append(f"return [{', '.join(results.values())}]")
        else:
            table = self.relations.table(wanted)
            end += [f"{table}[{self.relations.slot(p)}] = {result}" for p, result in results.items()]
            end.append(f"return {results[wanted]}")
        return writer.function(name, start, end)

    def _facts(self, predicate: int) -> str:
        """The source of the rows that a relation starts with."""
        facts = self._schema.facts(predicate)
        if not facts:
            return ""
        rows = self._schema.relation(predicate, facts)
        return self.relations.constant(rows if self._schema.arity[predicate] else {()})

    def _truth(self, writer: FunctionWriter, stratum: Stratum, name: str, wanted: int | None) -> list[str]:
        """The function of a relation without arguments: it ends at the first match."""
        (predicate,) = stratum.predicates
        if wanted is None:
            holds, fails = ["return [True]"], ["return [False]"]
        else:
            store = f"{self.relations.table(predicate)}[{self.relations.slot(predicate)}] = "
            holds, fails = [f"{store}True", "return True"], [f"{store}False", "return False"]
        if self._schema.facts(predicate):
            return writer.function(name, holds)
        for clause in stratum.clauses:
            writer.clause(clause, _leaving(writer, holds), first_only=True)
        return writer.function(name, [], fails)

    def _fixpoint(self, writer: FunctionWriter, stratum: Stratum) -> list[str]:
        """Write the rounds of a recursive stratum; return the statements that must stand before."""
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
        self, writer: FunctionWriter, members: Sequence[int], clauses: Sequence[FlatClause]
    ) -> list[str]:
        """The joins of one round: each clause, once for each literal of the stratum that takes its rows
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
        """The function joins the clauses with the key's values given, and stores the result."""
        predicate, keys, values = key
        name = self.relations.lazy[key].name
        writer = FunctionWriter(self.relations, f"{self.relations.parameters(predicate)}, k")
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
            wanted = [clause.head.args[c] for c in values]
            match = _answering(writer, row(wanted)) if values else _leaving(writer, holds)
            calls = self.relations.calls(key)
            writer.clause(
                clause, match, first_only=not values, bound=bound, needed=variables_of(wanted), calls=calls
            )
            writer.indent = 1
        end = [f"{store}o", "return o"] if values else [f"{store}False", "return False"]
        return writer.function(f"q{name}", start, end)

    def _magic(self, stratum: Stratum, key: Key) -> list[str]:
        """The tables keep all keys and answers: a new key adds to them."""
        predicate, keys, values = key
        schema, relations = self._schema, self.relations
        clauses = list(stratum.clauses)
        for p in stratum.predicates:
            clauses += [FlatClause(FlatAtom(p, fact), (), (), (), (), 0) for fact in schema.facts(p)]
        members = frozenset(stratum.predicates)
        magic = MagicSets(clauses, members, (predicate, keys), relations.fan, schema.new_predicate)
        seed, answer = magic.keys[predicate, keys], magic.answers[predicate, keys]
        new = sorted([*magic.answers.values(), *magic.keys.values()])
        writer = FunctionWriter(self.relations, f"{relations.parameters(predicate)}, k")
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


def _adding(writer: FunctionWriter, clause: FlatClause) -> MatchCode:
    """Heads go into the relation."""
    head, relation = row(clause.head.args), f"r{clause.head.predicate}"
    return MatchCode(
        lambda: writer.line(f"add({head})"),
        fresh=lambda: f"{head} not in {relation}",
        row=clause.head.args,
        all_of=lambda name: writer.line(f"{relation} |= {name}"),
    )


def _collecting(writer: FunctionWriter, clause: FlatClause, target: str) -> MatchCode:
    """Heads go into the new rows of a round (``n``), or at once into the relation (``r``)."""
    head, p = row(clause.head.args), clause.head.predicate
    return MatchCode(lambda: writer.line(f"{target}{p}.add({head})"), fresh=lambda: f"{head} not in r{p}")


def _answering(writer: FunctionWriter, answer: str) -> MatchCode:
    """The wanted columns go into the rows of the key."""
    return MatchCode(lambda: writer.line(f"add({answer})"), fresh=lambda: f"{answer} not in o")


def _leaving(writer: FunctionWriter, lines: list[str]) -> MatchCode:
    """The first match is enough: the lines leave the function."""
    return MatchCode(lambda: writer.line(*lines), leaves=True)


def _total(members: Sequence[int]) -> str:
    return " + ".join(f"len(r{p})" for p in members)
