"""CFR+ on the whole tree of a small game. The average strategies approach an equilibrium if one role wins
what the other loses (Zinkevich and others 2007; Tammelin, Solving large imperfect information games using
CFR+, 2014).

In the tree of a game of two roles, if several roles have a choice in one state, they choose one after the
other, unseen, chance first. A *layer* holds the nodes of one role in one turn, so that all nodes of an
information set are in one layer.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gdl.information import chance_role, observations, playing
from gdl.machine import Machine, State
from gdl.words import counted
from players.belief.belief import Belief
from players.hidden.ismcts import IsmctsPlayer
from players.options import Option, at_least, between
from players.player import Candidate, Choice, Player, same_numbering

_HUGE = 1e15
TERMINAL, CHANCE = -2, -1
"""The value of ``actor`` for nodes without a player (0 or 1)."""

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GameTree:
    """A tree as arrays over its nodes, parents first.

    Attributes:
        layers: the nodes of each layer but the first, from the root down.
        parent: int64, shape (nodes,): -1 for the root.
        actor: int64: the player that moves there, CHANCE or TERMINAL.
        edge: int64: the action that led there, numbered on over all information sets; -1 below chance.
        share: float64: below chance, the probability of the action that led there.
        goals: float64, shape (nodes, 2): 0 except at ends.
        first: int64, shape (information sets + 1,): where the actions of each begin.
        sets_of_player: int64: the player of each information set.
        some_node: int64: a node of each information set.
        moves: the move ids of all actions.
        places: (player, its observations, turn by turn) -> information set.
    """

    layers: list[Numbers]
    parent: Numbers
    actor: Numbers
    edge: Numbers
    share: Floats
    goals: Floats
    first: Numbers
    sets_of_player: Numbers
    some_node: Numbers
    moves: list[int]
    places: dict[tuple[int, tuple[Hashable, ...]], int]


def estimated_nodes(machine: Machine, walks: int, rng: random.Random) -> float:
    """The approximate number of states in the tree of a game, estimated from random matches: each state on a
    path stands for as many states as there were joint moves to choose from on the way (Knuth, Estimating the
    efficiency of backtrack programs, 1975)."""
    total = 0.0
    for _ in range(walks):
        state, alike = machine.initial_state(), 1.0
        total += alike
        while not machine.is_terminal(state) and all(options := machine.options(state)) and alike < _HUGE:
            alike *= math.prod(map(len, options))
            total += alike
            state = machine.next_state(state, [rng.choice(moves) for moves in options])
    return total / walks


class TreeBuilder:
    """Grows the tree of a game of two roles and chance; :meth:`grow` may be called repeatedly."""

    def __init__(self, machine: Machine, most: int) -> None:
        self._machine, self._most = machine, most
        self.roles = playing(machine.roles)
        self._chance = chance_role(machine.roles)
        self._order = [*([] if self._chance is None else [self._chance]), *self.roles]
        self._parent: list[int] = []
        self._actor: list[int] = []
        self._edge: list[int] = []
        self._share: list[float] = []
        self._layer: list[int] = []
        self._goals: dict[int, tuple[float, ...]] = {}
        self._first: list[int] = [0]
        self._whose: list[int] = []
        self._some: list[int] = []
        self._moves: list[int] = []
        self._places: dict[tuple[int, tuple[Hashable, ...]], int] = {}
        self._waiting: list[tuple[State, int, int, float, int, tuple[tuple[Hashable, ...], ...]]] = [
            (machine.initial_state(), -1, -1, 1.0, 0, ((), ()))
        ]

    @property
    def too_large(self) -> bool:
        """Whether there are more nodes than the limit."""
        return len(self._parent) > self._most

    def grow(self, deadline: float) -> GameTree | None:
        """The tree, or None while it is not complete at the deadline, or is too large."""
        while self._waiting:
            if self.too_large or time.monotonic() > deadline:
                return None
            self._expand(*self._waiting.pop())
        return self._finished()

    def _node(self, parent: int, actor: int, edge: int, share: float, layer: int) -> int:
        self._parent.append(parent)
        self._actor.append(actor)
        self._edge.append(edge)
        self._share.append(share)
        self._layer.append(layer)
        return len(self._parent) - 1

    def _expand(
        self,
        state: State,
        parent: int,
        edge: int,
        share: float,
        turn: int,
        seen: tuple[tuple[Hashable, ...], ...],
    ) -> None:
        """Add the nodes of a state, and store its successors for later."""
        machine, layer = self._machine, turn * len(self._order)
        options = machine.options(state)
        if machine.is_terminal(state) or not all(options):
            node = self._node(parent, TERMINAL, edge, share, layer)
            goals = [machine.result(state, role) for role in self.roles]
            self._goals[node] = tuple(50.0 if goal is None else float(goal) for goal in goals)
            return
        choosing = [role for role in self._order if len(options[role]) > 1]
        # The joint moves so far of the choosing roles, and the nodes that they lead to.
        open_: dict[tuple[int, ...], tuple[int, int, float]] = {(): (parent, edge, share)}
        for role in choosing:
            at = layer + self._order.index(role)
            following: dict[tuple[int, ...], tuple[int, int, float]] = {}
            for chosen, (above, by, part) in open_.items():
                moves = options[role]
                if role == self._chance:
                    node = self._node(above, CHANCE, by, part, at)
                    places = [(node, -1, 1 / len(moves))] * len(moves)
                else:
                    player = self.roles.index(role)
                    node = self._node(above, player, by, part, at)
                    start = self._first[self._set(player, seen[player], moves, node)]
                    places = [(node, start + number, 1.0) for number in range(len(moves))]
                following |= {(*chosen, move): place for move, place in zip(moves, places, strict=True)}
            open_ = following
        for chosen in product(*[options[role] for role in choosing]):
            joint = [moves[0] for moves in options]
            for role, move in zip(choosing, chosen, strict=True):
                joint[role] = move
            learnt = observations(machine, state, joint)
            later = tuple((*before, learnt[role]) for before, role in zip(seen, self.roles, strict=True))
            above, by, part = open_[chosen]
            self._waiting.append((machine.next_state(state, joint), above, by, part, turn + 1, later))

    def _set(self, player: int, seen: tuple[Hashable, ...], moves: Iterable[int], node: int) -> int:
        """The information set of a node."""
        number = self._places.setdefault((player, seen), len(self._whose))
        if number == len(self._whose):
            self._whose.append(player)
            self._some.append(node)
            self._moves += moves
            self._first.append(len(self._moves))
        return number

    def _finished(self) -> GameTree:
        layer = np.array(self._layer, np.int64)
        goals = np.zeros((len(layer), 2))
        for node, values in self._goals.items():
            goals[node] = values
        order = np.argsort(layer, kind="stable")
        bounds = np.flatnonzero(np.diff(layer[order], prepend=-1))
        parts = np.split(order, bounds[1:])
        return GameTree(
            layers=parts[1:],
            parent=np.array(self._parent, np.int64),
            actor=np.array(self._actor, np.int64),
            edge=np.array(self._edge, np.int64),
            share=np.array(self._share, np.float64),
            goals=goals,
            first=np.array(self._first, np.int64),
            sets_of_player=np.array(self._whose, np.int64),
            some_node=np.array(self._some, np.int64),
            moves=self._moves,
            places=self._places,
        )


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
