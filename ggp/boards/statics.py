"""What follows from the facts of the rules alone, such as which squares touch: small relations, bottom-up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from gdl.rules import And, Formula, Literal, Not, Or, Rule, Rules, literals
from gdl.terms import ARITIES, BASE, ROLE, Term

_MOST_STEPS = 100_000
"""Rows looked at for all relations together: some tenths of a second."""
_DISTINCT = "distinct"
_KNOWN = (BASE, ROLE)
"""Words of GDL that are relations like any other here."""
Signature = tuple[str, int]
Row = tuple[Term, ...]


class _StaticTable:
    """Rows of a relation, by each of their arguments."""

    def __init__(self) -> None:
        self.rows: set[Row] = set()
        self._by: dict[tuple[int, Term], list[Row]] = defaultdict(list)

    def add(self, row: Row) -> bool:
        """Take a row in; whether it is new."""
        if row in self.rows:
            return False
        self.rows.add(row)
        for pair in enumerate(row):
            self._by[pair].append(row)
        return True

    def fitting(self, wanted: Row) -> list[Row]:
        """Rows among which are all that a pattern may become."""
        lists = [self._by.get(pair, []) for pair in enumerate(wanted) if pair[1].ground]
        # A copy: rows are added while they are looked at.
        return list(min(lists, key=len) if lists else self.rows)


class Statics:
    """The relations of a game that never change and need no negation."""

    def __init__(self, rules: Rules) -> None:
        self._rules: dict[Signature, list[Rule]] = defaultdict(list)
        for rule in rules:
            if rule.head.name not in ARITIES or rule.head.name in _KNOWN:
                self._rules[rule.head.signature].append(rule)
        self._steps = 0
        self._known: dict[Signature, _StaticTable] = {}

    def signatures(self, arities: tuple[int, ...]) -> list[Signature]:
        """Relations of these arities, in order."""
        return sorted(signature for signature in self._rules if signature[1] in arities)

    def bases(self, most: int) -> set[Term]:
        """The base propositions that the rules list; none where they do not, or as for :meth:`rows`."""
        return {row[0] for row in self.rows((BASE, 1), most)}

    def rows(self, signature: Signature, most: int) -> set[Row]:
        """All rows of a relation; none for one that depends on the state, uses negation, takes too long or
        has more rows than ``most``."""
        if signature not in self._known:
            needed = self._needed(signature)
            if needed is None or not self._fixpoint(needed, signature, most):
                self._known[signature] = _StaticTable()
        return self._known[signature].rows

    def _needed(self, signature: Signature) -> set[Signature] | None:
        """The relations that one is made of, itself included; None if some are not static."""
        needed, waiting = {signature}, [signature]
        while waiting:
            for rule in self._rules.get(waiting.pop(), ()):
                for literal, positive in (pair for f in rule.body for pair in literals(f)):
                    if literal.atom.name == _DISTINCT:
                        continue
                    if not positive or (literal.atom.name in ARITIES and literal.atom.name not in _KNOWN):
                        return None
                    if literal.atom.signature not in needed:
                        needed.add(literal.atom.signature)
                        waiting.append(literal.atom.signature)
        return needed

    def _fixpoint(self, needed: set[Signature], wanted: Signature, most: int) -> bool:
        """Find all rows of some relations; False if that takes too long, or one has too many."""
        rows = {s: self._known.get(s) or _StaticTable() for s in needed}
        open_ones = needed - self._known.keys()
        grown = True
        while grown:
            grown = False
            for signature in sorted(open_ones):
                for rule in self._rules.get(signature, ()):
                    for binding in self._solve(rule.body, {}, rows):
                        grown |= rows[signature].add(rule.head.substitute(binding).args)
                        if len(rows[wanted].rows) > most:
                            return False
                    if self._steps > _MOST_STEPS:
                        return False
        self._known |= rows
        return True

    def _solve(
        self, body: tuple[Formula, ...], binding: dict[Term, Term], rows: dict[Signature, _StaticTable]
    ) -> Iterator[dict[Term, Term]]:
        if not body:
            yield binding
            return
        for found in self._holds(body[0], binding, rows):
            yield from self._solve(body[1:], found, rows)

    def _holds(
        self, formula: Formula, binding: dict[Term, Term], rows: dict[Signature, _StaticTable]
    ) -> Iterator[dict[Term, Term]]:
        match formula:
            case And(parts):
                yield from self._solve(parts, binding, rows)
            case Or(parts):
                for part in parts:
                    yield from self._holds(part, binding, rows)
            case Literal(atom):
                wanted = atom.substitute(binding)
                if wanted.name == _DISTINCT:
                    if wanted.args[0] != wanted.args[1]:
                        yield binding
                    return
                for row in rows[wanted.signature].fitting(wanted.args):
                    self._steps += 1
                    if self._steps > _MOST_STEPS:
                        return
                    found = _matched(wanted.args, row, binding)
                    if found is not None:
                        yield found
            case Not():
                return  # only of distinct, which no relation between squares needs


def _matched(wanted: Row, row: Row, binding: dict[Term, Term]) -> dict[Term, Term] | None:
    """The binding, and what makes a pattern a row; None if nothing does."""
    found = dict(binding)
    for pattern, value in zip(wanted, row, strict=True):
        if pattern.is_variable:
            if found.setdefault(pattern, value) != value:
                return None
        elif pattern != value:
            return None
    return found
