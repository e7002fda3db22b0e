"""Facts that a hint puts on the board, ``; draw: clue * as number``: those that name one square are things
there, those that name two are drawn between these, as signs or lines."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from gdl.hints import LINKS, board_hint
from gdl.rules import Rules
from gdl.terms import Term
from ggp.boards.layers import Square, split_name
from ggp.boards.statics import Statics

_MOST_FACTS = 2_000


def hinted_relations(rules: Rules, looks: Collection[str] | None = None) -> set[str]:
    """The relations with a hint for all their facts, with one of some looks."""
    return {hint.words[0] for hint in rules.hints if hint.every and (looks is None or hint.look in looks)}


def between(
    term: Term, squares: Collection[Square], turned: bool = False
) -> tuple[list[Square], tuple[Term, ...]]:
    """The squares that a fact names, at most two, and its other arguments; ``turned`` if rows come first."""
    named: list[Square] = []
    rest: list[Term] = []
    args = iter(range(len(term.args)))
    for i in args:
        # One name such as a1, or a column and a row.
        pairs = [split_name(term.args[i]), *zip(term.args[i : i + 1], term.args[i + 1 : i + 2], strict=False)]
        ends: list[Square] = [((), pair[turned], pair[not turned]) for pair in pairs]
        fits = [n for n, square in enumerate(ends) if square in squares]
        if fits and len(named) < 2:
            named.append(ends[fits[0]])
            for _ in range(fits[0]):
                next(args)
        else:
            rest.append(term.args[i])
    return named, tuple(rest)


def hinted_facts(rules: Rules, statics: Statics, names: Collection[str]) -> Iterator[Term]:
    """The facts of these relations that never change, in order."""
    found = {rule.head for rule in rules if not rule.body and rule.head.ground and rule.head.name in names}
    for name, arity in statics.signatures((1, 2, 3, 4, 5, 6)) if names else ():
        if name in names:
            found |= {Term(name, *row) for row in statics.rows((name, arity), _MOST_FACTS)}
    yield from sorted(found)[:_MOST_FACTS]


def links_of(
    hinted: Iterable[Term], rules: Rules, squares: Collection[Square]
) -> tuple[list[Term], list[Term]]:
    """The facts that are drawn between two squares, and those that may be drawn on one."""
    names, alone = hinted_relations(rules, LINKS), hinted_relations(rules, LINKS - {"letter", "wall"})
    links = [fact for fact in hinted if fact.name in names and len(between(fact, squares)[0]) == 2]
    return links, [fact for fact in hinted if fact.name not in alone and fact not in links]


def drawn_lines(
    links: Iterable[Term], rules: Rules, squares: Collection[Square], turned: bool, look: str
) -> tuple[tuple[Square, Square], ...]:
    """The ends of lines of a board of ``lines`` that facts with this look are, ``line`` or ``loop``;
    ``turned`` if rows come first."""
    names = hinted_relations(rules, {look}) if board_hint(rules.hints) == "lines" else set[str]()
    ends = (sorted(between(fact, squares, turned)[0]) for fact in links if fact.name in names)
    return tuple(dict.fromkeys((a, b) for a, b in ends))
