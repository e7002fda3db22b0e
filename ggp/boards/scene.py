"""What a state shows on a board and beside it: things on squares, changes, whose turn it is, counters.

The rules of legal moves show which proposition says whose turn it is, such as ``(control white)``.

>>> from ggp.game import Game
>>> machine = Game.load("tictactoe").machine("prover")
>>> turns = TurnFinder(machine.rules, machine.roles)
>>> turns.relation, turns.role(machine.initial_state().propositions)
('control', 0)

Counters that rules keep digit by digit, ``(tens 1)`` and ``(units 6)``, are one number: 16. A digit carries
into another if the rules raise the other digit when this one is 9.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from gdl.rules import Literal, Rule, Rules, literals
from gdl.terms import INIT, LEGAL, NEXT, TRUE, Term, sort_key
from ggp.boards.board import Grid
from ggp.boards.layers import Square, Thing

Seen = tuple[Collection[Term], Term | None, Collection[Term]]
"""What is known to be true in a state, the move that a role makes there, and what it perceives of it."""
Past = Sequence[Seen]


@dataclass(frozen=True, slots=True)
class Onlooker:
    """For whom a state is drawn.

    Attributes:
        role: number of the role that sits below; None for the first.
        likely: the likelihoods of propositions that this role does not know; None if all are drawn.
        moves: the moves that were just made, as far as known, role by role.
        over: whether the match is over, so that nobody is to move.
        past: the steps up to now, for boards that show them.
    """

    role: int | None = None
    likely: Mapping[Term, float] | None = None
    moves: Sequence[Term | None] = ()
    over: bool = False
    past: Past = ()


@dataclass(frozen=True, slots=True)
class Scene:
    """What a state shows.

    Attributes:
        propositions: all that is true.
        on: the things on squares.
        beside: the propositions off the board, in order, without the digits of counters.
        counters: the relation of the lowest digit and the value of each counter.
        turn, turn_before: the number of the role whose turn it is, and was; None if the state names no role.
        changed: the squares whose things have changed; empty if these are many.
        on_before, off_before: the things on squares and the propositions off the board in the state before;
            None if there is none.
        by: for whom it is drawn.
    """

    propositions: list[Term]
    on: dict[Square, list[Thing]]
    beside: list[Term]
    counters: list[tuple[str, int]]
    turn: int | None
    turn_before: int | None
    changed: set[Square]
    on_before: dict[Square, list[Thing]] | None
    off_before: list[Term] | None
    by: Onlooker


class SceneFinder:
    """Finds what the states of one game show.

    Args:
        board: the board, or None for games without a board.
        squares: the squares that are drawn; None for all that the board may have.

    Attributes:
        turns: finds whose turn it is.
    """

    def __init__(
        self,
        board: Grid | None,
        rules: Rules,
        roles: tuple[Term, ...],
        squares: Collection[Square] | None = None,
    ) -> None:
        self._board, self._squares = board, squares
        self.turns = TurnFinder(rules, roles)
        self._counters = digit_chains(rules)

    def scene(
        self,
        propositions: Iterable[Term],
        before: Iterable[Term] | None = None,
        by: Onlooker = Onlooker(),
    ) -> Scene:
        """The scene of a state, given by its true propositions; ``before`` are those of the state before."""
        now = list(propositions)
        on, others = self._placed(now)
        counters = joined_digits(self._counters, others)
        digits = {term for _, terms in counters for term in terms}
        old, was = (None, None) if before is None else self._placed(before)
        changed = set[Square]()
        if self._board is not None and old is not None:
            changed = {square for square in old.keys() | on.keys() if old.get(square) != on.get(square)}
            squares = self._board.squares | on.keys() if self._squares is None else self._squares
            changed = changed if 2 * len(changed) <= len(squares) + 2 else set()
        return Scene(
            propositions=now,
            on=on,
            beside=[term for term in others if term not in digits],
            counters=[(terms[0].name, value) for value, terms in counters],
            turn=self.turns.role(now),
            turn_before=self.turns.role(was or ()),
            changed=changed,
            on_before=old,
            off_before=was,
            by=by,
        )

    def _placed(self, propositions: Iterable[Term]) -> tuple[dict[Square, list[Thing]], list[Term]]:
        if self._board is None:
            return {}, sorted(propositions, key=sort_key)
        return self._board.place(propositions, self._squares)


class TurnFinder:
    """Finds whose turn it is in the states of one game.

    A relation shows the turn if all of this holds: its one argument is a role; one rule lets a role move
    while the relation holds of this role; and another rule lets a role move while it does not hold, or while
    it holds of another role.

    Attributes:
        relation: the relation's name; None if no relation shows the turn.
    """

    def __init__(self, rules: Rules, roles: tuple[Term, ...]) -> None:
        self._roles = {role: number for number, role in enumerate(roles)}
        self.relation = _relation(rules, set(roles)) if len(roles) > 1 else None

    def role(self, propositions: Iterable[Term]) -> int | None:
        """The number of the role whose turn it is; None if the state names no role, or several."""
        if self.relation is None:
            return None
        named = {p.args[0] for p in propositions if p.name == self.relation and len(p.args) == 1}
        return self._roles.get(named.pop()) if len(named) == 1 else None

    def tells(self, proposition: Term) -> bool:
        """Whether a proposition is of the relation that shows the turn."""
        return proposition.signature == (self.relation, 1)


def _relation(rules: Rules, roles: set[Term]) -> str | None:
    own: dict[str, int] = {}
    other: set[str] = set()
    wrong: set[str] = set()
    for rule in rules:
        if rule.head.name in (INIT, NEXT) and len(rule.head.args) == 1:
            fact = rule.head.args[0]
            if len(fact.args) == 1 and not fact.args[0].is_variable and fact.args[0] not in roles:
                wrong.add(fact.name)
        elif rule.head.signature == (LEGAL, 2):
            _votes(rule, own, other)
    fitting = [name for name in own if name in other and name not in wrong]
    return max(fitting, key=lambda name: own[name], default=None)


def _votes(rule: Rule, own: dict[str, int], other: set[str]) -> None:
    """Count the relations of one argument that a rule for legal moves requires of its own role. Collect the
    relations that it requires of others or negates."""
    mover = rule.head.args[0]
    for literal, positive in (pair for part in rule.body for pair in literals(part)):
        atom = literal.atom
        if atom.name != TRUE or len(atom.args) != 1 or len(atom.args[0].args) != 1:
            continue
        fact = atom.args[0]
        if positive and fact.args[0] == mover:
            own[fact.name] = own.get(fact.name, 0) + 1
        else:
            other.add(fact.name)


_MOST_DIGITS = 12


def digit_chains(rules: Rules) -> tuple[tuple[str, ...], ...]:
    """The relations of each counter, from the lowest digit up."""
    lower: dict[str, set[str]] = {}
    for rule in rules:
        if rule.head.name != NEXT or len(rule.head.args) != 1:
            continue
        head = rule.head.args[0]
        asked = [
            part.atom.args[0]
            for part in rule.body
            if isinstance(part, Literal) and part.atom.name == TRUE and len(part.atom.args) == 1
        ]
        if len(head.args) == 1 and _raised(head, asked):
            nines = {fact.name for fact in asked if len(fact.args) == 1 and fact.args[0].name == "9"}
            lower.setdefault(head.name, set()).update(nines - {head.name})
    # The rules raise the third digit when the second and the first are 9: the second has more digits below
    # it.
    into = {
        max(sorted(below), key=lambda name: len(lower.get(name, ()))): high
        for high, below in sorted(lower.items())
        if below
    }
    chains: list[tuple[str, ...]] = []
    for start in sorted(into.keys() - set(into.values())):
        chain = [start]
        while chain[-1] in into and len(chain) < _MOST_DIGITS:
            chain.append(into[chain[-1]])
        chains.append(tuple(chain))
    return tuple(chains)


def _raised(head: Term, asked: list[Term]) -> bool:
    """Whether a rule sets a digit to a new value."""
    own = [fact for fact in asked if fact.signature == head.signature]
    return bool(own) and all(fact.args[0] != head.args[0] for fact in own)


def joined_digits(
    chains: Iterable[tuple[str, ...]], facts: Iterable[Term]
) -> list[tuple[int, tuple[Term, ...]]]:
    """The value of each counter, and its facts. A counter is left out unless each of its digits occurs
    exactly once."""
    found: dict[str, list[Term]] = {}
    for fact in facts:
        if len(fact.args) == 1 and fact.args[0].name.isdecimal() and len(fact.args[0].name) <= _MOST_DIGITS:
            found.setdefault(fact.name, []).append(fact)
    joined: list[tuple[int, tuple[Term, ...]]] = []
    for chain in chains:
        digits = [found.get(name, []) for name in chain]
        if all(len(each) == 1 for each in digits):
            terms = tuple(each[0] for each in digits)
            joined.append((sum(int(t.args[0].name) * 10**i for i, t in enumerate(terms)), terms))
    return joined
