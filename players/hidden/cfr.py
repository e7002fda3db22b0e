"""CFR+ on the whole tree of a small game. The average strategies approach an equilibrium if one role wins
what the other loses (Zinkevich and others 2007; Tammelin, Solving large imperfect information games using
CFR+, 2014).
"""

from __future__ import annotations

import random
import time
from typing import Any

import numpy as np

from gdl.information import playing
from gdl.machine import Machine, State
from gdl.words import counted
from players.belief.belief import Belief
from players.hidden.game_tree import Floats, GameTree, TreeBuilder, estimated_nodes
from players.hidden.ismcts import IsmctsPlayer
from players.options import Option, at_least, between
from players.player import Candidate, Choice, Player, same_numbering

_NODES = 400_000
_WALKS = 64
_DOUBT = 8
"""A tree whose estimated number of nodes exceeds the limit by this factor is not grown."""
_TURN_SHARE = 0.5
"""Share of a turn's time that is used for more rounds."""
_ENOUGH = 20_000
"""Maximum number of rounds."""


class Cfr:
    """Strategies for both players of a tree, improved by each round.

    Attributes:
        tree: the game.
        rounds: number of rounds so far.
    """

    def __init__(self, tree: GameTree) -> None:
        self.tree = tree
        self.rounds = 0
        actions = len(tree.moves)
        self._set_of = np.repeat(np.arange(len(tree.first) - 1), np.diff(tree.first))
        self._counts = np.diff(tree.first).astype(np.float64)
        self._regrets = np.zeros(actions)
        self._sums = np.zeros(actions)
        mover = tree.actor[tree.parent]
        self._below = [np.flatnonzero((tree.edge >= 0) & (mover == player)) for player in (0, 1)]
        self._owned = [np.flatnonzero(tree.sets_of_player[self._set_of] == player) for player in (0, 1)]

    def average(self) -> Floats:
        """The average strategies: a probability for each action."""
        return self._normal(self._sums)

    def run(self, deadline: float, most: int) -> None:
        """Run rounds until the deadline, or until there are ``most`` rounds."""
        while self.rounds < most and time.monotonic() < deadline:
            self.rounds += 1
            for player in (0, 1):
                self._learn(player)

    def values(self, strategy: Floats) -> Floats:
        """The mean results of both players, 0..100, if they play by this strategy."""
        values: Floats = self._backed_up(self._chances(strategy))[0]
        return values

    def best_response(self, player: int, strategy: Floats) -> float:
        """The most that a player can get against the other's strategy."""
        tree, chances = self.tree, self._chances(strategy)
        weights = self._reach(chances, own=player)
        values = tree.goals[:, player].copy()
        best = np.zeros(len(self._counts), np.int64)
        for layer in reversed([np.zeros(1, np.int64), *tree.layers]):
            mine = layer[tree.actor[layer] == player]
            if len(mine):
                children = self._below[player][np.isin(tree.parent[self._below[player]], mine)]
                worth = np.bincount(
                    tree.edge[children], weights[children] * values[children], len(tree.moves)
                )
                for number in np.unique(self._set_of[tree.edge[children]]).tolist():
                    low, high = tree.first[number], tree.first[number + 1]
                    best[number] = low + int(worth[low:high].argmax())
                taken = children[best[self._set_of[tree.edge[children]]] == tree.edge[children]]
                values[tree.parent[taken]] = values[taken]
            up = layer[(tree.parent[layer] >= 0)]
            up = up[tree.actor[tree.parent[up]] != player]
            np.add.at(values, tree.parent[up], chances[up] * values[up])
        return float(values[0])

    def exploitability(self) -> float:
        """By how much the two best responses to the average strategies beat them, in goals, per player."""
        strategy = self.average()
        values = self.values(strategy)
        return sum(self.best_response(player, strategy) - float(values[player]) for player in (0, 1)) / 2

    def _learn(self, player: int) -> None:
        """Add a player's regrets, and its strategy to the average."""
        tree = self.tree
        strategy = self._normal(self._regrets)
        chances = self._chances(strategy)
        values = self._backed_up(chances)[:, player]
        others, own = self._reach(chances, own=player), self._reach(chances, only=player)
        below = self._below[player]
        gains = others[tree.parent[below]] * (values[below] - values[tree.parent[below]])
        regrets = self._regrets + np.bincount(tree.edge[below], gains, len(tree.moves))
        mine = self._owned[player]
        self._regrets[mine] = np.maximum(regrets[mine], 0.0)
        reached = own[tree.some_node][self._set_of]
        self._sums[mine] += self.rounds * (reached * strategy)[mine]

    def _normal(self, weights: Floats) -> Floats:
        """Weights as probabilities in each information set, uniform if all its weights are 0."""
        totals = np.bincount(self._set_of, weights, len(self._counts))
        positive, alike = totals[self._set_of], 1 / self._counts[self._set_of]
        return np.where(positive > 0, weights / np.where(positive > 0, positive, 1.0), alike)

    def _chances(self, strategy: Floats) -> Floats:
        """Per node the probability of the edge from its parent."""
        edge = self.tree.edge
        return np.where(edge >= 0, strategy[np.maximum(edge, 0)], self.tree.share)

    def _reach(self, chances: Floats, own: int | None = None, only: int | None = None) -> Floats:
        """Per node the probability to reach it: from all but the player ``own``, or from the player ``only``
        alone."""
        tree = self.tree
        mover = tree.actor[tree.parent]
        counts = mover != own if only is None else mover == only
        steps = np.where(counts, chances, 1.0)
        reach = np.ones(len(tree.parent))
        for layer in tree.layers:
            reach[layer] = reach[tree.parent[layer]] * steps[layer]
        return reach

    def _backed_up(self, chances: Floats) -> Floats:
        """Per node the mean results of both players."""
        tree = self.tree
        values = tree.goals.copy()
        for layer in reversed(tree.layers):
            np.add.at(values, tree.parent[layer], chances[layer, None] * values[layer])
        return values


class CfrPlayer(Player):
    """Plays by CFR+ if the tree of a game of two roles is small. Until the tree is complete, and in larger
    games, it plays as ``ismcts``."""

    name = "cfr"
    OPTIONS = (
        Option("nodes", at_least(1), _NODES, "of the largest tree", public=between(1, _NODES)),
        Option(
            "rounds", at_least(1), _ENOUGH, "maximum number of training rounds", public=between(1, _ENOUGH)
        ),
    )

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        super().__init__(seed=seed, **options)
        self._nodes: int = self.options["nodes"]
        self._rounds: int = self.options["rounds"]
        self._other = IsmctsPlayer(seed=seed)
        self._builder: TreeBuilder | None = None
        self._cfr: Cfr | None = None
        self._started = False

    def prepare(self, state: State, deadline: float) -> None:
        self._rng = random.Random(f"{self.seed} {self.role}")
        self.stop()
        self._begin()
        grown_until = deadline if self._builder is not None else time.monotonic()
        if not self._train(grown_until):
            self._other.start(self.machine, self.role, state, 0.0, deadline)
            self._started = True

    def update_machine(self, machine: Machine) -> None:
        same = self._cfr is not None or same_numbering(self.machine, machine)
        super().update_machine(machine)
        if self._started:
            self._other.update_machine(machine)
        if not same:
            self._begin()

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return self._instead(Belief(self.machine, self.role).certain(state), deadline)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        now = time.monotonic()
        if not self._train(now + _TURN_SHARE * (deadline - now)):
            return self._instead(belief, deadline)
        cfr = self._cfr
        assert cfr is not None and self._builder is not None
        tree, player = cfr.tree, self._builder.roles.index(self.role)
        seen = tuple(
            (self._own_machine.move_id(self.role, one.move) if one.move is not None else -1, one.percepts)
            for one in belief.history
        )
        place = tree.places.get((player, seen))
        if place is None:
            return self._instead(belief, deadline)
        low, high = int(tree.first[place]), int(tree.first[place + 1])
        chances = cfr.average()[low:high]
        moves = [
            belief.machine.move_id(self.role, self._own_machine.move(self.role, move))
            for move in tree.moves[low:high]
        ]
        chosen = self._rng.choices(moves, chances.tolist())[0]
        order = sorted(range(len(moves)), key=lambda i: (moves[i] != chosen, -chances[i]))
        candidates = tuple(Candidate(moves[i], round(1000 * chances[i])) for i in order)
        note = f"{counted(cfr.rounds, 'round')} over {counted(len(tree.parent), 'node')}"
        return Choice(chosen, candidates, f"{note}, drawn by its share")

    def stop(self) -> None:
        if self._started:
            self._other.stop()
            self._started = False

    def _begin(self) -> None:
        """Begin to grow the tree, if there are two players."""
        self._cfr, self._own_machine = None, self.machine
        small = len(playing(self.machine.roles)) == 2 and (
            estimated_nodes(self.machine, _WALKS, self._rng) < _DOUBT * self._nodes
        )
        self._builder = TreeBuilder(self.machine, self._nodes) if small else None

    def _train(self, deadline: float) -> bool:
        """Grow the tree, or improve the strategies on it. Returns whether there is a tree."""
        if self._cfr is None and self._builder is not None:
            tree = self._builder.grow(deadline)
            if tree is not None and len(tree.moves):
                self._cfr = Cfr(tree)
            elif tree is not None or self._builder.too_large:
                self._builder = None  # no role has a choice in it, or it takes too much memory
        if self._cfr is None:
            return False
        self._cfr.run(deadline, max(1, self._rounds))
        if not self._cfr.rounds:
            self._cfr.run(float("inf"), 1)
        return True

    def _instead(self, belief: Belief, deadline: float) -> Choice:
        """The choice of the substitute player."""
        if not self._started:
            self._other.start(self.machine, self.role, belief.likeliest, 0.0, time.monotonic())
            self._started = True
        return self._other.choose_from(belief, deadline)
