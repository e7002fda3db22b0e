"""What may be tuned in a search, and the rule of selection that follows from it."""

from __future__ import annotations

from dataclasses import dataclass

from players.uct.tree.selection_rules import EAGER, FACTOR, GRAVE, MAST, NONE, NST, PUCT, TUNED, UCB, Rule

AUTO = "auto"
SELECTIONS = {"ucb": UCB, "tuned": TUNED, "puct": PUCT}
"""Values of :attr:`players.uct.tree.selection_rules.Rule.kind` by name."""
PRIORS = {"none": NONE, "mast": MAST, "nst": NST, "grave": GRAVE, "factor": FACTOR}
"""Values of :attr:`players.uct.tree.selection_rules.Rule.prior` by name."""
TRUST = 2.0
"""What priors count for, if nothing else is said."""
FEW, MANY = 0.25, 8.0
"""With ``auto``, roots with fewer visits for each pair of moves than the first of these are searched by UCB1
alone, those with at least as many as the second one by PUCT alone, and those between by turns."""
STAGES = ("UCB1", "UCB1 and PUCT in turn", "PUCT")
"""How ``auto`` selects in each of them."""
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
        selection: ``ucb`` (UCB1), ``tuned`` (UCB1-tuned), ``puct``, or ``auto``: where moves have
            priors UCB1 first, then PUCT, as visits allow (:meth:`stage`); else UCB1.
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
            (:mod:`players.kaskade.guided_machine`).
        trim: whether such moves are left out of the tree as well, in games of two roles and constant sum.
        policy: how playouts choose moves, in games of several roles: with ``equal`` chances, by their
            ``averages`` (:mod:`players.uct.rollouts.move_averages`), or ``auto``, as trials before the
            first turn recommend (:mod:`players.uct.rollouts.choose_policy`); not where playouts are
            limited.
        value_share: how much a value learnt beforehand counts in the result of a leaf, 0..1; with 0 none
            is learnt.
        prove: whether the first of several searches for the same role also proves what it can force
            (:mod:`players.uct.proof_scheduler`), in games of several roles; not where playouts are limited.
        memory: bytes for the search tree, and for the solvers of one-player games.
        proof_memory: bytes for the states of proofs; in one-player games solvers have them too.
        number: which of several searches for the same role this is, from 0.

    What ``auto`` does with selection and priors is chosen by measurement during the search: averages of moves
    tell nothing before each pair of moves was seen some times, and much after that. All figures are of
    :mod:`bench.duel`.

    - Batches of PUCT with NST and of UCB1 in turn, whatever the visits, against UCB1 without priors, 0.07 or
      0.08 s of CPU time a move, 10 or 12 games each: amazons_8x8 8:2, breakthrough 10:2, pentago 10:2,
      reversi 8:4, connectFour 7.5:4.5, but hex 4:8 and skirmish 3:9, where so short a search sees a tenth of
      the pairs. With 0.3 s it was 9:7 in skirmish.
    - PUCT alone against both in turn, 0.25 s a move, 14 games each: reversi 11:3, knightThrough 9:5, pentago
      7.5:6.5, connectFour, amazons_8x8 and gomoku_11x11 7:7, cubicup 6.5:7.5, skirmish 5:9, hex 4:10;
      breakthrough 20:8 with 0.12 s.
    - First UCB1, then both in turn, then PUCT, as visits allow, against both in turn always, 0.2 s a move:
      reversi 12:2, skirmish 11:3, breakthrough 9:5, hex 9:5, amazons_8x8 8:6, pentago 8:6, connectFour 7:7,
      gomoku_11x11 7:7, knightThrough 6:8; with 1 s breakthrough 6:6 of 12.
    - Paths at once, 0.2 to 0.6 s a move: 1024 against 512 29 of 68, 256 against 512 50 of 90, 128 against 512
      33 of 72. Fewer at once know more of each other, but each then costs more.
    - Other constants were no better, 0.15 s a move: a trust of 8 won 35.5 of 70 games and one of 0.5 79 of
      158, exploration by 0.35 29.5 of 58 and by 1 29 of 70.

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

    def stage(self, rule: Rule, visits: int, choices: int) -> int:
        """What there is to be learnt from averages of moves: a place in :data:`STAGES`, or -1 where selection
        is not ``auto`` or moves have no priors.

        Args:
            rule: what :meth:`rule` says.
            visits: of the root.
            choices: moves that the role in turn has there.
        """
        if self.selection != AUTO or rule.kind != PUCT:
            return -1
        pairs = choices * choices
        return int(visits >= FEW * pairs) + int(visits >= MANY * pairs)

    def turned(self, rule: Rule, batch: int, stage: int) -> tuple[Rule, Rule]:
        """The rule by which the paths of a batch, numbered from 0, go down the tree, and that by which they
        are booked: both are :meth:`rule`, except for UCB1 in the first stages."""
        by_ucb = rule._replace(kind=UCB, urgency=EAGER)
        if stage == 0:
            # Moves were made too seldom for averages to tell anything.
            return by_ucb, rule._replace(trust=0.0)
        return (by_ucb if stage == 1 and batch % 2 else rule), rule
