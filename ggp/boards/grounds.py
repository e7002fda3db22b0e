"""The ground of a board, found in the rules and in some states: lines for stones that are laid, green for
discs that turn over, dark for riders that close the squares behind them; blocks, as in Sudoku."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.prover.limits import ProverLimits
from gdl.prover.machine import ProverMachine
from gdl.rules import Literal, Rule, Rules, body_literals
from gdl.terms import ARITIES, DOES, INIT, ROLE, TRUE, Term
from ggp.boards.layers import Layer, Square, Thing
from ggp.boards.piece_behaviour import PieceBehaviour

_FEWEST_LINES = 7
"""Fewest columns and rows of a board of lines."""
_LIMITS = ProverLimits(rows=100_000)
_SQUARE = "square of the board"
"""A name that no rules can write."""


def ground_of(
    machine: Machine, things: Sequence[Thing], squares: Collection[Square], behaviour: PieceBehaviour
) -> str:
    """``lines``, ``green`` or ``dark``, as a hint for the board says it; empty for other boards.

    Args:
        things: every thing of the board.
        squares: its squares, on one board of columns and rows.
    """
    kinds, roles = set(things), len(machine.roles)
    if roles < 2:
        return ""
    trails = behaviour.trails & behaviour.stays
    riders = kinds - trails
    if trails and riders == behaviour.moves and len(riders) == roles:
        return "dark"
    if len(behaviour.turns) == roles and kinds - behaviour.turns <= behaviour.stays - behaviour.comes:
        return "green"
    wide, high = len({x for _, x, _ in squares}), len({y for _, _, y in squares})
    stones = len(kinds) == roles == 2 and not behaviour.first and not kinds & behaviour.moves
    if not stones or min(wide, high) < _FEWEST_LINES or wide * high > len(squares):
        return ""
    free = max(map(len, machine.options(machine.initial_state())))
    return "lines" if free >= len(squares) else ""


def blocks_of(
    rules: Rules, layers: Sequence[Layer], squares: Collection[Square]
) -> tuple[frozenset[Square], ...]:
    """Blocks that share out a board of as many columns as rows, each with as many squares: a relation of the
    rules asks about the squares of a block together, as others do of each row and of each column. Empty for
    other boards."""
    side = len({x for _, x, _ in squares})
    if len(layers) != 1 or side * side != len(squares) or len({y for _, _, y in squares}) != side:
        return ()
    (layer,) = layers
    if layer.strip or layer.panel or layer.x == layer.y:
        return ()
    changing = _changing(rules)
    static = [r for r in rules if r.head.name == ROLE or r.head.name not in (*ARITIES, *changing)]
    asked = _asked_together(rules, layer, squares, changing)
    try:
        found = ProverMachine(replace(rules, rules=(*static, *asked)), _LIMITS).initial_state().propositions
    except GdlError:  # The rules are hostile or exceed the limits.
        return ()
    groups: dict[Term, dict[tuple[Term, ...], set[Square]]] = defaultdict(lambda: defaultdict(set))
    used = {lit.atom for rule in rules for lit, _ in body_literals(rule)}
    plain = {atom.name for atom in used if atom.args} - {atom.name for atom in used if not atom.ground}
    for term in found:
        relation, *key, x, y = term.args
        if relation.name not in plain or Term(relation.name, *key) in used:
            groups[relation][tuple(key)].add(((), x, y))
    shares = [set(map(frozenset, parts.values())) for _, parts in sorted(groups.items())]
    whole = [
        share
        for share in shares
        if len(share) == side
        and {len(part) for part in share} == {side}
        and len(set().union(*share)) == side**2
    ]
    lines = [
        share for share in whole if any(len({s[i] for s in part}) == 1 for part in share for i in (1, 2))
    ]
    blocks = [share for share in whole if share not in lines]
    return tuple(sorted(blocks[0], key=min)) if blocks and len(lines) > 1 else ()


def _changing(rules: Rules) -> set[str]:
    """The relations that depend on the state or on moves."""
    changing = {TRUE, DOES}
    while True:
        more = {r.head.name for r in rules if any(lit.atom.name in changing for lit, _ in body_literals(r))}
        if more <= changing:
            return changing
        changing |= more


def _asked_together(
    rules: Rules, layer: Layer, squares: Collection[Square], changing: Collection[str]
) -> Iterator[Rule]:
    """Rules that give the squares about which a relation asks as propositions of the first state, with those
    arguments of the relation that do not say what stands there."""
    yield from (Rule(Term(_SQUARE, x, y)) for _, x, y in sorted(squares))
    for rule in rules:
        literals = [lit for lit, positive in body_literals(rule) if positive]
        facts = [lit.atom.args[0] for lit in literals if lit.atom.name == TRUE]
        asked = [fact for fact in facts if layer.fits(fact)]
        if rule.head.name in ARITIES or len(asked) < len(facts):
            continue
        places = {fact.args[i] for fact in asked for i in (layer.x, layer.y)}
        there = {fact.args[i] for fact in asked for i in layer.contents} - places
        key = [arg for arg in rule.head.args if arg not in there]
        where = [
            lit
            for lit in literals
            if lit.atom.name not in (*ARITIES, *changing) and not there & set(lit.atom.args)
        ]
        for x, y in sorted({(fact.args[layer.x], fact.args[layer.y]) for fact in asked}):
            square = Term(_SQUARE, Term(rule.head.name), *key, x, y)
            yield Rule(Term(INIT, square), (*where, Literal(Term(_SQUARE, x, y))))
