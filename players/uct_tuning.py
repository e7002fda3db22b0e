"""What may be tuned in a search, and the rule of selection that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from players.uct_policy import EAGER, FACTOR, GRAVE, MAST, NONE, NST, PUCT, TUNED, UCB, Rule

AUTO = "auto"
SELECTIONS = {"ucb": UCB, "tuned": TUNED, "puct": PUCT}
"""Values of :attr:`players.uct_policy.Rule.kind` by name."""
PRIORS = {"none": NONE, "mast": MAST, "nst": NST, "grave": GRAVE, "factor": FACTOR}
"""Values of :attr:`players.uct_policy.Rule.prior` by name."""
TRUST = 2.0
"""What priors count for, if nothing else is said."""
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
        selection: ``ucb`` (UCB1), ``tuned`` (UCB1-tuned), ``puct``, or ``auto``: batches by PUCT and by UCB1
            in turn where moves have priors, else UCB1.
        urgency: a move that was never tried counts as tried once, with its prior plus this as the result;
            from 1 on every move is tried once first. None for 0 with PUCT, and 1 with the others.
        prior: what a move is thought to be worth beforehand: ``none`` (what its state is worth), or
            more or less by the results of playouts that made the move: ``mast`` (anywhere), ``nst``
            (on paths of the tree, and after the same move), ``grave`` (below a near ancestor), ``factor`` (in
            the same state of the factor that it acts on).
            ``auto``: ``nst`` where roles choose in turn, else ``none``; see below.
        trust: how many visits the prior counts as; None for 2, and 0 where there is none.
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

    What ``auto`` does with selection and priors was measured against UCB1 without priors, 0.07 or 0.08 s of
    CPU time a move, 10 or 12 games each (:mod:`bench.duel`): amazons_8x8 8:2, breakthrough 10:2, pentago
    10:2, atariGo_7x7 7:3, breakthroughSuicideSmall 7:3, knightThrough 8:4, reversi 8:4, connectFour 7.5:4.5,
    checkers 7.5:4.5, chineseCheckers2 6:4, nineBoardTicTacToe 6:4, cephalopodMicro 7:5, gomoku_11x11 6:6,
    kalaha6x2x4 5:5, connect5 4.5:5.5, cubicup 4:6, hex 4:8, sheepAndWolf 3:7, skirmish 3:9, skirmishNew 1:9.
    PUCT alone did more in breakthrough (35:5, and 11:1 at 0.5 s), and worse in hex (9:19) and gomoku_11x11
    (4:8). To choose between them before the first turn was tried: with 0.01 s a move, so that games are
    short enough, breakthrough tells 12:8, pentago 10:10, skirmish 8:12 and hex 12:8. Nor does it help to know
    how well priors foretell results: in breakthrough they do not (a correlation of 0.03), in connect four
    they do (0.24).

    Counting moves by the factors of a game (``prior=factor``) was as good as by pairs of moves, not better:
    two boards of connect four, where a line on either wins, 10.5:13.5 with a trust of 2, 12:12 with 20 and
    20.5:19.5 with 100; four boards 11:13, 12:12 and 14:26; ticTacHeaven 15:15, and 16.5:13.5 with 10; nim
    29:31.
    """

    lanes: int = 512
    per_leaf: int = 0
    growth: int = 32
    explore: float = 0.6
    scaled: bool = True
    selection: str = AUTO
    urgency: float | None = None
    prior: str = AUTO
    trust: float | None = None
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

    def rule(self, spread: float, numbered: bool, in_turn: bool) -> Rule:
        """The rule of selection.

        Args:
            spread: the standard deviation of the results of leaves.
            numbered: whether moves are numbered, so that there can be counts of them.
            in_turn: whether several roles play, and one alone has a choice now.
        """
        explore = self.explore * min(1.0, spread / WIDEST) if self.scaled else self.explore
        usual = "nst" if in_turn else "none"
        prior = PRIORS[usual if self.prior == AUTO else self.prior] if numbered else NONE
        kind = PUCT if prior else UCB
        if self.selection != AUTO:
            kind = SELECTIONS[self.selection]
        urgency, trust = self.urgency, self.trust
        if urgency is None:
            urgency = 0.0 if kind == PUCT else EAGER
        if trust is None:
            trust = TRUST if prior else 0.0
        return Rule(kind, explore, urgency, trust, prior)

    def turned(self, rule: Rule, batch: int) -> Rule:
        """The rule by which paths of a batch, numbered from 0, go down the tree. It is :meth:`rule`, by which
        they are booked, or UCB1 in turn with it."""
        if self.selection == AUTO and rule.kind == PUCT and batch % 2:
            return rule._replace(kind=UCB, urgency=EAGER)
        return rule
