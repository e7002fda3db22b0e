"""`Tuning`: the parameters of a search, and the rule of selection that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from gdl.information import chance_role
from gdl.terms import Term
from players.options import Option, number_between, one_of
from players.uct.rollouts.rollouts import POLICIES
from players.uct.tree.selection_rules import NONE, NST, PUCT, UCB, VALUED, SelectionRule

AUTO = "auto"
PRIOR_VISITS = 2.0
"""Number of visits that priors count as."""
FEW, MANY = 0.25, 8.0
"""The visits for each pair of moves at the root that separate the stages of selection: UCB1 alone below the
first number, PUCT alone from the second on, and both by turns in between. Averages of moves say nothing
before each pair of moves was seen some times, and much after that (see docs/measurements.md)."""
STAGES = ("UCB1", "UCB1 and PUCT in turn", "PUCT")
"""The selection in each stage."""
WIDEST = 0.5
"""The standard deviation of results that are 0 or 1 equally often."""


def _option(
    read: Callable[[str], object], default: object, text: str, public: Callable[[str], object] | None = None
) -> Any:
    """A field of :class:`Tuning` that is also an option of players: see :class:`players.options.Option`.
    Remote users may choose any value that ``read`` accepts, unless ``public`` reads theirs."""
    return field(default=default, metadata={"read": read, "help": text, "public": public or read})


@dataclass(frozen=True, slots=True)
class Tuning:
    """The parameters of a search. Names of players choose ``exploration``, ``policy`` and ``knowledge``; the
    rest is for experiments (``bench.duel``) and trials.

    The exploration constant is for results as far apart as 0 and 1; it shrinks if the results of leaves
    differ less. It is small because the means of several playouts from each leaf differ less than single
    results, and because paths under way explore as well.

    Attributes:
        paths: most paths under way at once.
        per_leaf: playouts from each leaf; 0 for the number that pays (1 if playouts are limited).
        decisive: whether playouts see moves that win or lose at once, if the machine can.
        trim: whether moves that lose at once stay out of the tree too, in games of constant sum.
        knowledge_share: weight of knowledge in the value of a leaf, 0 to 1, playouts have the rest; None: as
            trained.
        looks: whether knowledge without playouts values all moves of each new state; None: as trained.
        minimax: weight in a move's worth of the minimax value of these looks; the mean of results has the
            rest.
        lead: whether roles play for their lead where two of them fight (:mod:`players.uct.leads`).
        memory: bytes for the search tree, and for the solvers of one-player games.
        number: index of this search among several for the same role, from 0.
        chance: the role whose moves are drawn, -1 for none.
    """

    paths: int = 512
    per_leaf: int = 0
    exploration: float = _option(float, 0.6, "exploration constant", number_between(0.0, 100.0))
    decisive: bool = True
    trim: bool = True
    policy: str = _option(
        one_of((AUTO, *POLICIES)),
        AUTO,
        "how playouts choose moves; auto: as trials before the first turn recommend",
    )
    knowledge: str = _option(
        str,
        AUTO,
        "of the game, learnt before (ggp train): auto, off, a folder, or an exported file",
        one_of((AUTO, "off")),
    )
    knowledge_share: float | None = None
    looks: bool | None = None
    minimax: float = 0.9
    lead: bool = True
    memory: int = 1 << 28
    number: int = 0
    chance: int = -1

    def against(self, roles: Sequence[Term]) -> Tuning:
        """The tuning for these roles. Chance forces nothing: with a chance role, no blunders are left out."""
        chance = chance_role(roles)
        if chance is None:
            return self
        return replace(self, decisive=False, trim=False, chance=chance)

    def rule(self, spread: float, numbered: bool, in_turn: bool) -> SelectionRule:
        """The rule of selection. ``spread`` is the standard deviation of the results of leaves; moves that
        are ``numbered`` can be counted; ``in_turn``: several roles play, and only one has a choice now."""
        exploration = self.exploration * min(1.0, spread / WIDEST)
        if in_turn and numbered:
            return SelectionRule(PUCT, exploration, PRIOR_VISITS, NST, chance=self.chance)
        return SelectionRule(UCB, exploration, 0.0, NONE, chance=self.chance)

    def valued(self, rule: SelectionRule) -> SelectionRule:
        """The rule of a tree that knows the values of new nodes' children, in place of ``rule``."""
        return rule._replace(kind=PUCT, prior=VALUED, prior_visits=0.0, minimax=self.minimax)

    def stage(self, rule: SelectionRule, visits: int, choices: int) -> int:
        """The stage of learning from averages of moves: a place in :data:`STAGES`; -1 if moves have no
        priors.

        Args:
            rule: the result of :meth:`rule`.
            visits: visits of the root.
            choices: number of moves of the role to move there."""
        if rule.kind != PUCT:
            return -1
        pairs = choices * choices
        return int(visits >= FEW * pairs) + int(visits >= MANY * pairs)

    def turned(self, rule: SelectionRule, batch: int, stage: int) -> tuple[SelectionRule, SelectionRule]:
        """The rule that selects the paths of a batch, numbered from 0, and the rule that backs them up: both
        are :meth:`rule`, except for UCB1 in the first stages."""
        by_ucb = rule._replace(kind=UCB)
        if stage == 0:
            # Moves were made too seldom for averages to mean anything.
            return by_ucb, rule._replace(prior_visits=0.0)
        return (by_ucb if stage == 1 and batch % 2 else rule), rule


TUNING_OPTIONS = tuple(
    Option(entry.name, default=entry.default, **entry.metadata) for entry in fields(Tuning) if entry.metadata
)
"""A player's options for its tuning."""
