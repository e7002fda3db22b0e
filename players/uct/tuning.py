"""What may be tuned in a search, and the rule of selection that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from players.uct.tree.selection_rules import NONE, NST, PUCT, UCB, SelectionRule

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


@dataclass(frozen=True, slots=True)
class Tuning:
    """What may be tuned.

    Attributes:
        paths: the most paths under way at once.
        per_leaf: playouts from the end of each path; 0 for as many as measurement recommends (one,
            where the number of playouts is limited, so that what is found does not depend on time).
        exploration: the exploration constant, for results as far apart as 0 and 1; it is made smaller where
            the results of leaves differ less. It is small because the means of several playouts from each
            leaf differ less than single results, and because paths under way explore as well.
        selection: ``ucb`` (UCB1), ``puct``, or ``auto``: where moves have priors UCB1 first, then PUCT, as
            visits allow (:meth:`stage`); else UCB1.
        prior: what a move is thought to be worth before it is tried: ``none`` (what its state is worth),
            ``nst`` (more or less by what the move has brought elsewhere in the tree, above all after the same
            move), or ``auto``: ``nst`` where roles choose in turn, else ``none``.
        decisive: whether moves that win or lose at once are told apart in playouts, where the machine can
            (:mod:`players.kaskade.guided_machine`).
        trim: whether such moves are left out of the tree as well, in games of two roles and constant sum.
        policy: how playouts choose moves, in games of several roles: with ``equal`` chances, by their
            ``averages`` (:mod:`players.uct.rollouts.move_averages`), or ``auto``, as trials before the
            first turn recommend (:mod:`players.uct.rollouts.choose_policy`); not where playouts are
            limited.
        prove: whether the first of several searches for the same role also proves what it can force
            (:mod:`players.uct.proof_scheduler`), in games of several roles; not where playouts are limited.
        memory: bytes for the search tree, and for the solvers of one-player games.
        proof_memory: bytes for the states of proofs; in one-player games solvers have them too.
        number: which of several searches for the same role this is, from 0.
    """

    paths: int = 512
    per_leaf: int = 0
    exploration: float = 0.6
    selection: str = AUTO
    prior: str = AUTO
    decisive: bool = True
    trim: bool = True
    policy: str = "auto"
    prove: bool = True
    memory: int = 1 << 28
    proof_memory: int = 1 << 28
    number: int = 0

    def rule(self, spread: float, numbered: bool, in_turn: bool) -> SelectionRule:
        """The rule of selection.

        Args:
            spread: the standard deviation of the results of leaves.
            numbered: whether moves are numbered, so that there can be counts of them.
            in_turn: whether several roles play, and one alone has a choice now.
        """
        usual = "nst" if in_turn else "none"
        prior = PRIORS[usual if self.prior == AUTO else self.prior] if numbered else NONE
        kind = PUCT if prior else UCB
        if self.selection != AUTO:
            kind = SELECTIONS[self.selection]
        exploration = self.exploration * min(1.0, spread / WIDEST)
        return SelectionRule(kind, exploration, PRIOR_VISITS if prior else 0.0, prior)

    def stage(self, rule: SelectionRule, visits: int, choices: int) -> int:
        """What there is to be learnt from averages of moves: a place in :data:`STAGES`, or -1 where selection
        is not ``auto`` or moves have no priors.

        Args:
            rule: what :meth:`rule` says.
            visits: of the root.
            choices: moves that the role to move has there.
        """
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
