"""What may be tuned in a search, and the rule of selection that follows from it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gdl.information import chance_role
from gdl.terms import Term
from players.options import Option, at_least, between, number_between, one_of, switch
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


_share = number_between(0.0, 1.0)


def _option(
    read: Callable[[str], object], default: object, text: str, public: Callable[[str], object] | None = None
) -> Any:
    """A field of :class:`Tuning` that is an option of players too: see :class:`players.options.Option`.
    Strangers may choose what ``read`` takes, unless ``public`` reads for them."""
    return field(default=default, metadata={"read": read, "help": text, "public": public or read})


@dataclass(frozen=True, slots=True)
class Tuning:
    """What may be tuned.

    The exploration constant is for results as far apart as 0 and 1; it is made smaller where the results of
    leaves differ less. It is small because the means of several playouts from each leaf differ less than
    single results, and because paths under way explore as well.

    Attributes:
        memory: bytes for the search tree, and for the solvers of one-player games.
        proof_memory: bytes for the states of proofs; in one-player games solvers have them too.
        number: which of several searches for the same role this is, from 0.
        chance: the role whose moves are drawn, -1 for none.
    """

    paths: int = _option(at_least(1), 512, "most paths under way at once", between(1, 512))
    per_leaf: int = _option(
        at_least(0),
        0,
        "playouts from each leaf; 0: as many as pays (1 where playouts are limited)",
        between(0, 512),
    )
    exploration: float = _option(float, 0.6, "exploration constant", number_between(0.0, 100.0))
    selection: str = _option(
        one_of((AUTO, *SELECTIONS)), AUTO, "rule; auto: UCB1, with priors PUCT as soon as visits allow"
    )
    prior: str = _option(
        one_of((AUTO, *PRIORS)), AUTO, "of untried moves; auto: nst where roles move in turn, else none"
    )
    decisive: bool = _option(switch, True, "playouts see moves that win or lose at once, where they can")
    trim: bool = _option(switch, True, "such moves stay out of the tree too, in games of constant sum")
    policy: str = _option(
        one_of(policy_names()),
        AUTO,
        "how playouts choose moves; auto: as trials before the first turn recommend",
    )
    prove: bool = _option(switch, True, "proof search beside the tree (not where playouts are limited)")
    pass_over: bool = _option(
        switch, True, "plies in which nobody has a choice are no nodes of the tree, where they are frequent"
    )
    knowledge: str = _option(
        str,
        AUTO,
        "of the game, learnt before (ggp train): auto, off, a folder, or an exported file",
        one_of((AUTO, "off")),
    )
    knowledge_share: float | None = _option(
        _share, None, "of knowledge in the value of a leaf, 0 to 1; playouts have the rest; else as trained"
    )
    looks: bool | None = _option(
        switch, None, "knowledge without playouts is asked about all moves of each new state; else as trained"
    )
    minimax: float = _option(
        _share, 0.9, "of a move's worth: what such looks tell by minimax; the mean of results has the rest"
    )
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
