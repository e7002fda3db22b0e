"""What may be tuned in a search, and the rule of selection that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gdl.information import chance_role
from gdl.terms import Term
from players.options import Option, number_between, one_of
from players.uct.rollouts.registry import policy_names
from players.uct.tree.selection_rules import GUESSED, NONE, NST, PUCT, UCB, SelectionRule

AUTO = "auto"
SELECTIONS = {"ucb": UCB, "puct": PUCT}
"""Values of :attr:`players.uct.tree.selection_rules.SelectionRule.kind` by name."""
PRIORS = {"none": NONE, "nst": NST}
"""Values of :attr:`players.uct.tree.selection_rules.SelectionRule.prior` by name."""
PRIOR_VISITS = 2.0
"""How many visits priors count as."""
FEW, MANY = 0.25, 8.0
"""With ``auto``, roots with fewer visits for each pair of moves than the first of these are searched by UCB1
alone, those with at least as many as the second one by PUCT alone, and those between by turns: averages of
moves tell nothing before each pair of moves was seen some times, and much after that
(see docs/measurements.md)."""
STAGES = ("UCB1", "UCB1 and PUCT in turn", "PUCT")
"""How ``auto`` selects in each of them."""
WIDEST = 0.5
"""The standard deviation of results that are 0 or 1 alike often."""


def _option(
    read: Callable[[str], object], default: object, text: str, public: Callable[[str], object] | None = None
) -> Any:
    """A field of :class:`Tuning` that is an option of players too: see :class:`players.options.Option`.
    Strangers may choose what ``read`` takes, unless ``public`` reads for them."""
    return field(default=default, metadata={"read": read, "help": text, "public": public or read})


@dataclass(frozen=True, slots=True)
class Tuning:
    """What may be tuned. Names of players choose ``exploration``, ``policy`` and ``knowledge``; the rest is
    for experiments (``bench.duel``), startclocks and trials.

    The exploration constant is for results as far apart as 0 and 1; it is made smaller where the results of
    leaves differ less. It is small because the means of several playouts from each leaf differ less than
    single results, and because paths under way explore as well.

    Attributes:
        paths: most paths under way at once.
        per_leaf: playouts from each leaf; 0 for as many as pays (1 where playouts are limited).
        selection: a rule of :data:`SELECTIONS`; with ``auto`` UCB1, with priors PUCT as soon as visits allow.
        prior: of untried moves, a name of :data:`PRIORS`; with ``auto`` ``nst`` where roles move in turn.
        decisive: whether playouts see moves that win or lose at once, where they can.
        trim: whether such moves stay out of the tree too, in games of constant sum.
        prove: whether a proof search works beside the tree (not where playouts are limited).
        pass_over: whether plies in which no role has a choice are left out of the tree, where they are
            frequent.
        knowledge_share: of knowledge in the value of a leaf, 0 to 1, playouts have the rest; None: as
            trained.
        looks: whether knowledge without playouts is asked about all moves of each new state; None: as
            trained.
        minimax: what such looks tell by minimax has this share of a move's worth, the mean of results the
            rest.
        memory: bytes for the search tree, and for the solvers of one-player games.
        proof_memory: bytes for the states of proofs; in one-player games solvers have them too.
        number: which of several searches for the same role this is, from 0.
        chance: the role whose moves are drawn, -1 for none.
    """

    paths: int = 512
    per_leaf: int = 0
    exploration: float = _option(float, 0.6, "exploration constant", number_between(0.0, 100.0))
    selection: str = AUTO
    prior: str = AUTO
    decisive: bool = True
    trim: bool = True
    policy: str = _option(
        one_of(policy_names()),
        AUTO,
        "how playouts choose moves; auto: as trials before the first turn recommend",
    )
    prove: bool = True
    pass_over: bool = True
    knowledge: str = _option(
        str,
        AUTO,
        "of the game, learnt before (ggp train): auto, off, a folder, or an exported file",
        one_of((AUTO, "off")),
    )
    knowledge_share: float | None = None
    looks: bool | None = None
    minimax: float = 0.9
    memory: int = 1 << 28
    proof_memory: int = 1 << 28
    number: int = 0
    chance: int = -1

    def against(self, roles: Sequence[Term]) -> Tuning:
        """What is left of it against these roles. Nothing is forced by chance: no blunders are left out, and
        nothing is proven."""
        chance = chance_role(roles)
        if chance is None:
            return self
        return replace(self, decisive=False, trim=False, prove=False, chance=chance)

    def rule(self, spread: float, numbered: bool, in_turn: bool) -> SelectionRule:
        """The rule of selection. ``spread`` is the standard deviation of the results of leaves; moves that
        are ``numbered`` can be counted; ``in_turn``: several roles play, and one alone has a choice now."""
        usual = "nst" if in_turn else "none"
        prior = PRIORS[usual if self.prior == AUTO else self.prior] if numbered else NONE
        kind = PUCT if prior else UCB
        if self.selection != AUTO:
            kind = SELECTIONS[self.selection]
        exploration = self.exploration * min(1.0, spread / WIDEST)
        visits = PRIOR_VISITS if prior else 0.0
        return SelectionRule(kind, exploration, visits, prior, chance=self.chance)

    def guessed(self, rule: SelectionRule) -> SelectionRule:
        """The rule of a tree that knows what new nodes' children are worth; else it would be ``rule``."""
        return rule._replace(kind=PUCT, prior=GUESSED, prior_visits=0.0, minimax=self.minimax)

    def stage(self, rule: SelectionRule, visits: int, choices: int) -> int:
        """What there is to be learnt from averages of moves: a place in :data:`STAGES`, or -1 where selection
        is not ``auto`` or moves have no priors. ``rule`` is what :meth:`rule` says; the root has so many
        ``visits``, and the role to move so many ``choices`` there."""
        if self.selection != AUTO or rule.kind != PUCT:
            return -1
        pairs = choices * choices
        return int(visits >= FEW * pairs) + int(visits >= MANY * pairs)

    def turned(self, rule: SelectionRule, batch: int, stage: int) -> tuple[SelectionRule, SelectionRule]:
        """The rule by which the paths of a batch, numbered from 0, go down the tree, and that by which they
        are booked: both are :meth:`rule`, except for UCB1 in the first stages."""
        by_ucb = rule._replace(kind=UCB)
        if stage == 0:
            # Moves were made too seldom for averages to tell anything.
            return by_ucb, rule._replace(prior_visits=0.0)
        return (by_ucb if stage == 1 and batch % 2 else rule), rule


def tuning_options(tuning: Tuning) -> tuple[Option, ...]:
    """The options by which a player lets its tuning be chosen; defaults are those of ``tuning``."""
    return tuple(
        Option(entry.name, default=getattr(tuning, entry.name), **entry.metadata)
        for entry in fields(Tuning)
        if entry.metadata
    )
