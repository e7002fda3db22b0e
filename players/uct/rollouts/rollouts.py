"""The rollouts of a search, and the choice of their policy by measurement, before and during the first turns.

If a guide keeps playouts from blunders, playouts without it are tried first. In some games in which
completing a line loses, the time until random play blunders shows how many safe moves are left, and that
matters. Then average policies are tried against uniform choice. A policy is used only if it is clearly ahead:
a small lead says nothing about its worth in a search.

`Trial` compares two ways to judge states by games between them. Each role looks one move ahead, one of them
by the judge on trial, the others by the usual one. Many games are played side by side, so that hundreds take
seconds. (On what such games predict for a search, see docs/measurements.md.)
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gdl.information import chance_role
from gdl.words import counted
from players.batch_machine import BatchMachine, Ends, NetworkBatch, Records
from players.companions import Companion
from players.uct.rollouts.policy import AveragePolicy, RolloutPolicy, roll_out

_SUCCESSORS = 1 << 14
"""Approximate limit of the successors of all games side by side; with more, fewer games are played."""
_RANDOM_MOVES = 4
_FEWEST = 16
"""Fewest games from which a mean gain is computed."""
_FADE = 0.9
"""Factor on everything a policy has learnt after each batch of playouts: games go on."""
_COUNTED = 4
"""Playouts from each state that a policy learns from."""


class ByPlayouts:
    """Judges states by the mean results of ``each`` playouts from every state, by a policy that learns
    meanwhile. A playout is cut after ``steps`` steps; it counts as 50 then."""

    def __init__(
        self, batched: NetworkBatch, seed: int, each: int, steps: int, policy: RolloutPolicy
    ) -> None:
        self._batched = batched
        self._steps = steps
        self._rng = np.random.default_rng(seed)
        self._each = each
        self._policy = policy

    def values(self, records: NDArray[np.uint64]) -> NDArray[np.float64]:
        seed, each, policy = int(self._rng.integers(1 << 40)), self._each, self._policy
        policy.forget(_FADE)
        ends = roll_out(self._batched, policy, records, seed, self._steps, math.inf, each, counted=_COUNTED)
        results = np.where(ends.goals < 0, 50, ends.goals).reshape(len(records), each, -1)
        means: NDArray[np.float64] = results.mean(axis=1) / 100.0
        return means


class Trial:
    """Games of one judge against another.

    ``games`` are played side by side for each role if states have few successors, and ``rows`` of states are
    judged at once.

    Attributes:
        gains: for each finished game, the result of the role with the tried judge less the mean of the
            others, -1..1.
    """

    def __init__(
        self,
        batched: NetworkBatch,
        tried: ByPlayouts,
        usual: ByPlayouts,
        seed: int,
        games: int = 24,
        rows: int = 512,
    ) -> None:
        self.gains: list[float] = []
        self._most = games
        self._rows = rows
        self._batched = batched
        self._judges = usual, tried
        self._rng = np.random.default_rng(seed)

    @property
    def games(self) -> int:
        """Number of finished games."""
        return len(self.gains)

    @property
    def ahead(self) -> float:
        """The mean gain; 0 while too few games have ended."""
        return float(np.mean(self.gains)) if self.games >= _FEWEST else 0.0

    @property
    def spread(self) -> float:
        """The standard deviation of the gains; 0 while too few games have ended."""
        return float(np.std(self.gains)) if self.games >= _FEWEST else 0.0

    def play(self) -> Iterator[None]:
        """Play one set of games side by side to their ends; yields every few milliseconds. Another call plays
        more games."""
        batched = self._batched
        roles = len(batched.machine.roles)
        records = batched.record(batched.machine.initial_state())[None, :]
        width = max(1, int(batched.legal(records)[0].max(initial=1)))
        games = int(np.clip(_SUCCESSORS // (width * roles), 1, self._most)) * roles
        records = np.repeat(records, games, axis=0)
        tried = np.arange(games) % roles
        for ply in range(_LONGEST):
            parents, choosing, joint = self._moves(records)
            if not len(parents):
                return
            after = batched.successors(records[parents], joint)
            judged = batched.machine.evaluate(after)
            liking = self._rng.random(len(after)) * 1e-3
            if ply >= _RANDOM_MOVES:
                to_move = choosing[parents]
                choice = np.bincount(parents, minlength=len(records))[parents] > 1
                open_ = choice & (to_move >= 0) & ~judged.terminal
                for place, judge in enumerate(self._judges):
                    rows = np.flatnonzero(open_ & ((to_move == tried[parents]) == bool(place)))
                    for first in range(0, len(rows), self._rows):
                        part = rows[first : first + self._rows]
                        liking[part] += judge.values(after[part])[np.arange(len(part)), to_move[part]]
                        yield
                sure = np.flatnonzero(judged.terminal & (to_move >= 0))
                # Certain results lie more than 1 above or below all estimates.
                liking[sure] = judged.goals[sure, to_move[sure]] / 25.0 - 1.5
            order = np.lexsort((-liking, parents))
            drawn = order[np.unique(parents[order], return_index=True)[1]]
            over = judged.terminal[drawn]
            places = parents[drawn]
            self._count(judged.goals[drawn[over]], tried[places[over]])
            tried = tried[places[~over]]
            records = np.ascontiguousarray(after[drawn[~over]])
            yield

    def _moves(
        self, records: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """The legal moves of states (n, words): the state of each joint move, the role that chooses in each
        state, and the joint moves (m, roles). If several roles choose (-1), there is one random joint move.
        If a role has no move, there is none."""
        counts, moves = self._batched.legal(records)
        n, roles = counts.shape
        firsts = (np.cumsum(counts) - counts.ravel()).reshape(n, roles)
        several = (counts > 1).sum(axis=1)
        choosing = np.where(several > 1, -1, counts.argmax(axis=1))
        options = np.where(several > 1, 1, counts.max(axis=1))
        options[(counts == 0).any(axis=1)] = 0
        parents = np.repeat(np.arange(n), options)
        drawn = firsts + np.where(
            several[:, None] > 1, (self._rng.random(counts.shape) * counts).astype(np.int64), 0
        )
        at = drawn[parents]
        turn = np.arange(len(parents)) - np.repeat(np.cumsum(options) - options, options)
        rows = np.flatnonzero(choosing[parents] >= 0)
        at[rows, choosing[parents[rows]]] += turn[rows]
        return parents, choosing, moves[at].astype(np.int32)

    def _count(self, goals: NDArray[np.int16], tried: NDArray[np.int64]) -> None:
        """Note the ends of some games (n, roles), and the role with the tried judge in each (n,)."""
        has_goals = (goals >= 0).all(axis=1)
        goals, tried = goals[has_goals], tried[has_goals]
        own = goals[np.arange(len(goals)), tried] / 100.0
        others = (goals.sum(axis=1) / 100.0 - own) / max(1, goals.shape[1] - 1)
        self.gains += (own - others).tolist()


TEMPERATURES = (1.0, 0.5)
"""Temperatures of the average policies that are tried, in this order: see
:class:`players.uct.rollouts.policy.AveragePolicy`."""

_SHARE = 0.15
"""Share of the time to the first deadline that is for trials, ..."""
_LATER_SHARE = 0.1
"""... and of the time after that, ..."""
_MOST_SECONDS = 8.0
"""... in CPU time, and at most this many seconds in all."""
_CALL_SECONDS = 0.05
"""Approximate seconds that one call for playouts may take: the search does nothing else meanwhile."""
_LESSONS = 8
"""Batches of playouts that a policy learns from before its trial."""
_LANES = 512
_LONGEST = 500
"""Steps of a playout."""
_SIZES = ((12, 512), (12, 256))
"""Games side by side for each role and playouts from each state, as time allows. With fewer playouts,
policies that are worth little in a long search are far ahead: less is left to chance, but their estimates are
wrong."""
_OVER = object()
_ROUNDS = 12
"""Rounds of these games at most, ..."""
_FEWEST_ROUNDS = 3
"""... and at least if a policy is ahead."""
_SURE = 1.5
"""Standard errors between the measured lead and the bounds of the true one."""
_LEAD = 0.2
"""A lead, in standard deviations of the results of games, that is worth having."""
_HOPE = 0.3
"""A policy is dropped once its lead cannot be this large."""


class _Costs(NamedTuple):
    """The cost of playouts."""

    seconds: float  # CPU time of a playout in a large batch
    length: float  # the mean number of steps
    steps: int  # the limit of steps of a playout


class _Outcome(NamedTuple):
    """The outcome of a trial."""

    ahead: float  # the mean gain
    games: int  # finished games
    clear: bool  # whether the tried policy is clearly ahead


_Way = tuple[NetworkBatch, RolloutPolicy]
"""The machine of playouts, and their policy."""


class PolicyTrials(Companion):
    """Finds out by which policy, and on which machine, a search should roll out; ``use`` is called with both
    when the trials are over.

    Attributes:
        temperature: of the average policy that is ahead; 0 for uniform choice.
        unguided: whether playouts without the machine's guide are ahead.
        done: whether the trials are over.
    """

    least = 0.02
    rate = _LATER_SHARE
    opening = _SHARE

    def __init__(
        self, batched: NetworkBatch, seed: int, use: Callable[[NetworkBatch, RolloutPolicy], None]
    ) -> None:
        self.temperature = 0.0
        self.unguided = False
        self.done = False
        self._batched = batched
        self._seed = seed
        self._use = use
        self._course = self._try_all()
        self._spent = 0.0
        self._results: list[str] = []

    @property
    def active(self) -> bool:
        return not self.done

    def step(self, deadline: float) -> bool:
        began = used = time.thread_time()
        self.done = self._spent > _MOST_SECONDS or next(self._course, _OVER) is _OVER
        while not self.done and (used := time.thread_time()) < began + self.least:
            self.done = next(self._course, _OVER) is _OVER
        self._spent += used - began
        if self.done:
            self._use(self._batched, self._policy(self.temperature))
        return self.done

    def __str__(self) -> str:
        """The findings, as text; empty while the trials go on."""
        if not self.done:
            return ""
        return "; ".join(self._results) or "uniform playouts: other policies take too long to try"

    def _policy(self, temperature: float) -> RolloutPolicy:
        return AveragePolicy(self._batched.role_moves, temperature) if temperature else RolloutPolicy()

    def _try_all(self) -> Iterator[None]:
        if self._batched.guided:
            yield from self._try_unguided()
        yield from chain.from_iterable(map(self._try, TEMPERATURES))

    def _try_unguided(self) -> Iterator[None]:
        """Compare playouts without a guide to those with it, and drop the guide if they are clearly ahead."""
        guided = self._batched
        plain = guided.without_guide
        trial = yield from self._hold((plain, RolloutPolicy()), (guided, RolloutPolicy()))
        if trial is None:
            return
        self.unguided = trial.clear
        if self.unguided:
            self._batched = plain
        use = "left out" if self.unguided else "in use"
        self._results.append(
            f"moves that win or lose at once seen in playouts: {-trial.ahead:+.0%} against not, in"
            f" {counted(trial.games, 'game')}, {use}"
        )

    def _try(self, temperature: float) -> Iterator[None]:
        """Compare a policy to the best so far, and replace that if it is clearly ahead."""
        batched, before = self._batched, self.temperature
        tried = AveragePolicy(batched.role_moves, temperature)
        trial = yield from self._hold((batched, tried), (batched, self._policy(before)))
        if trial is None:
            return
        if trial.clear:
            self.temperature = temperature
        against = f"temperature {before:g}" if before else "uniform choice"
        use = "in use" if self.temperature == temperature else "not used"
        self._results.append(
            f"playouts by averages of moves, temperature {temperature:g}: {trial.ahead:+.0%} against"
            f" {against} in {counted(trial.games, 'game')}, {use}"
        )

    def _hold(self, tried: _Way, usual: _Way) -> Generator[None, None, _Outcome | None]:
        """Compare two ways of playouts until it is clear whether the tried one is far ahead; None if there is
        no time for that."""
        costs = yield from self._teach(tried[1])
        size = self._size(costs)
        if size is None:
            return None
        games, each = size
        rows = int(np.clip(_CALL_SECONDS / (each * costs.seconds), 1, 512))
        new, old = (
            ByPlayouts(batched, self._seed + number, each, costs.steps, policy)
            for number, (batched, policy) in enumerate((tried, usual), 1)
        )
        trial = Trial(self._batched, new, old, self._seed + 3, games, rows)
        clear = False
        for number in range(1, _ROUNDS + 1):
            yield from trial.play()
            if not trial.spread:
                break
            lead, doubt = trial.ahead / trial.spread, _SURE / math.sqrt(trial.games)
            clear = lead - doubt > _LEAD and number >= _FEWEST_ROUNDS
            if clear or lead + doubt < _HOPE:
                break
        return _Outcome(trial.ahead, trial.games, clear)

    def _teach(self, policy: RolloutPolicy) -> Generator[None, None, _Costs]:
        """Let a policy learn from playouts from the first state. Returns the cost of these."""
        batched = self._batched
        starts = np.repeat(batched.record(batched.machine.initial_state())[None, :], _LANES, axis=0)
        steps = int(np.clip(_CALL_SECONDS / max(batched.warm_up(), 1e-9), 1, _LONGEST))
        seconds, length = math.inf, 0.0
        for number in range(_LESSONS):
            tallies, weights = policy.new_tallies(), policy.weights
            began = time.thread_time()
            seed = self._seed + number
            ends = batched.playouts(starts, seed, steps, math.inf, weights=weights, tallies=tallies)
            seconds = min(seconds, max(1e-9, (time.thread_time() - began) / _LANES))
            length = float(ends.lengths.mean())
            if tallies is not None:
                policy.learn(tallies)
            yield
        return _Costs(seconds, length, steps)

    def _size(self, costs: _Costs) -> tuple[int, int] | None:
        """Games side by side for each role and playouts from each state that fit into the time; None if it
        does not suffice."""
        batched = self._batched
        first = batched.record(batched.machine.initial_state())[None, :]
        roles, width = len(batched.machine.roles), int(batched.legal(first)[0].max(initial=1))
        for games, each in _SIZES:
            # Playouts become shorter as games go on.
            playouts = games * roles * width * each * costs.length / 2
            if _FEWEST_ROUNDS * playouts * costs.seconds < _MOST_SECONDS - self._spent:
                return games, each
        return None


POLICIES: dict[str, Callable[[NetworkBatch], RolloutPolicy]] = {
    RolloutPolicy.name: lambda batched: RolloutPolicy(),
    AveragePolicy.name: lambda batched: AveragePolicy(batched.role_moves),
}
"""Name -> function that makes the policy for a machine; if it does not suit the game, ``RolloutPolicy()``."""


class Rollouts:
    """The playouts of one search: by the policy that was asked for, or uniform until trials find a better
    one. A machine without lanes only plays uniformly.

    Attributes:
        batched: the machine.
        policy: the policy.
        trials: the trials of policies, which replace both; None without trials, as in games of chance.
    """

    def __init__(self, batched: BatchMachine, asked: str, seed: int, needed: bool) -> None:
        """``asked``: the name of a policy; with any other name trials choose it if there is no chance role.
        ``needed``: whether the search makes rollouts at all, so that trials pay."""
        self.batched, self.policy = batched, RolloutPolicy()
        self.trials: PolicyTrials | None = None
        self._seed = seed
        if not isinstance(batched, NetworkBatch):
            return
        if asked in POLICIES:
            self.policy = POLICIES[asked](batched)
        elif needed and len(batched.machine.roles) > 1 and chance_role(batched.machine.roles) is None:
            # Trials compare the roles' goals at the end. Chance has none, so none of its games would count.
            self.trials = PolicyTrials(batched, self._seed, self._use)

    @property
    def unguided(self) -> bool:
        """Whether trials have found it better not to leave out blunders."""
        return self.trials is not None and self.trials.done and self.trials.unguided

    def go_on_with(self, batched: BatchMachine) -> None:
        """Roll out on another machine, which numbers states and moves alike. Trials restart if the guide is
        new or they are not over."""
        guided, self.batched = self.batched.guided or self.unguided, batched
        if self.trials is None:
            return
        assert isinstance(batched, NetworkBatch)
        if guided != batched.guided or not self.trials.done:
            self.trials = PolicyTrials(batched, self._seed, self._use)
        elif self.unguided:
            self.batched = batched.without_guide

    def _use(self, batched: NetworkBatch, policy: RolloutPolicy) -> None:
        self.batched, self.policy = batched, policy

    def playouts(self, starts: Records, seed: int, steps: int, deadline: float, each: int) -> Ends:
        """Playouts from these states, by the policy: see :func:`players.uct.rollouts.policy.roll_out`."""
        batched = self.batched
        if not isinstance(batched, NetworkBatch):
            return batched.playouts(starts, seed, steps, deadline, each)
        return roll_out(batched, self.policy, starts, seed, steps, deadline, each)

    def playouts_while(
        self, fewest: int, most: int, states: Records, made: NDArray[np.int32], seed: int, steps: int
    ) -> tuple[Ends, NDArray[np.int32], Records]:
        """Playouts that may go on in a later call, if :attr:`carries`: see
        :meth:`propnet.machine.PropnetMachine.playouts_while`."""
        assert isinstance(self.batched, NetworkBatch)
        return self.batched.playouts_while(fewest, most, states, made, seed, steps)

    @property
    def carries(self) -> bool:
        """Whether playouts may go on in a later batch: the policy does not learn from them."""
        batched = self.batched
        return isinstance(batched, NetworkBatch) and batched.carries and type(self.policy) is RolloutPolicy
