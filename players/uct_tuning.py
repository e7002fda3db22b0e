"""What may be tuned in a search, and the rule of selection that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from players.uct_policy import EAGER, NONE, Rule

SELECTIONS = ("ucb", "tuned", "puct")
"""Names of the values of :attr:`players.uct_policy.Rule.kind`."""
PRIORS = ("none", "mast", "nst", "grave")
"""Names of the values of :attr:`players.uct_policy.Rule.prior`."""
WIDEST = 0.5
"""The standard deviation of results that are 0 or 1 alike often."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """What may be tuned.

    Attributes:
        lanes: the most paths under way at once.
        per_leaf: playouts from the end of each path; 0 for as many as measurement recommends (one,
            where the number of playouts is limited, so that what is found does not depend on time).
        growth: a batch of paths is at most this part of the visits that the root has: a young tree
            grows better in small batches, and mixed strategies come to an equilibrium by small steps.
        explore: the constant of the exploration term, for results 0..1. It is small because the means of
            several playouts from each leaf differ less than single results, and because paths under way
            explore as well.
        scaled: whether that constant is for results as far apart as 0 and 1, and made smaller where the
            results of leaves differ less: their standard deviation is measured. In breakthrough it comes
            to 0.1; there 0.12 won 17:5 against 0.3, 0.2 s a move, in connect four it lost 19:23.
        selection: ``ucb`` (UCB1), ``tuned`` (UCB1-tuned) or ``puct``.
        urgency: a move that was never tried counts as tried once, with its prior plus this as the result;
            from 1 on every move is tried once first.
        prior: what a move is thought to be worth beforehand: ``none`` (what its state is worth), or
            more or less by the results of playouts that made the move: ``mast`` (anywhere), ``nst``
            (on paths of the tree, and after the same move), ``grave`` (below a near ancestor).
        trust: how many visits the prior counts as.
        table_visits: with ``grave``, a state of so many visits counts the moves made below it.
        counted: how many of the playouts from each leaf are counted for priors.
        decisive: whether moves that win or lose at once are told apart in playouts, where the machine can
            (:mod:`players.guided_machine`).
        trim: whether such moves are left out of the tree as well, in games of two roles and constant sum.
        policy: how playouts choose moves, in games of several roles: with ``equal`` chances, by their
            ``averages`` (:mod:`players.playout_policy`), or ``auto``, as trials before the first turn
            recommend (:mod:`players.playout_choice`); not where playouts are limited.
        value_share: how much a value learnt beforehand counts in the result of a leaf, 0..1; with 0 none
            is learnt.
        prove: whether the first of several searches for the same role also proves what it can force
            (:mod:`players.uct_prover`), in games of several roles; not where playouts are limited.
        memory: bytes for the search tree, and for the solvers of one-player games.
        proof_memory: bytes for the states of proofs; in one-player games solvers have them too.
        number: which of several searches for the same role this is, from 0.
    """

    lanes: int = 512
    per_leaf: int = 0
    growth: int = 32
    explore: float = 0.6
    scaled: bool = True
    selection: str = "ucb"
    urgency: float = EAGER
    prior: str = "none"
    trust: float = 0.0
    table_visits: int = 8
    counted: int = 16
    decisive: bool = True
    trim: bool = True
    value_share: float = 0.0
    policy: str = "auto"
    prove: bool = True
    memory: int = 1 << 28
    proof_memory: int = 1 << 28
    number: int = 0

    def rule(self, spread: float, numbered: bool) -> Rule:
        """The rule of selection, where the results of leaves have this standard deviation; without
        counts of moves if these are not numbered."""
        explore = self.explore * min(1.0, spread / WIDEST) if self.scaled else self.explore
        kind, prior = SELECTIONS.index(self.selection), PRIORS.index(self.prior) if numbered else NONE
        return Rule(kind, explore, self.urgency, self.trust, prior)
