"""The UCT player: Monte Carlo tree search by batches of playouts, to a deadline.

It searches in processes of its own (:mod:`players.uct.workers.pool`), each with its own tree. When the time
is up, it merges their statistics of the root's moves (:mod:`players.uct.root_statistics`). The processes go
on while the other players think. Without processes it searches in this one, and only during its turns.
"""

from __future__ import annotations

import random
import time
from dataclasses import replace
from typing import Any

from gdl.machine import Machine, State
from gdl.words import counted
from players.fleet.open_fleet import check_address
from players.options import Option, at_least, between, switch
from players.player import MARGIN, Candidate, Choice, Player
from players.portfolio import BestLine
from players.processes.limits import cores
from players.uct.root_statistics import Ranking, RootStatistics, merge, rank, strategy
from players.uct.search import SHORTEN_SECONDS, Search
from players.uct.tuning import TUNING_OPTIONS, Tuning
from players.uct.workers.pool import Pool

_PROGRESS_SECONDS = 0.1
_LOOK_SECONDS = 0.02
"""Seconds between two reads of the processes' statistics, for an early end."""
_GRACE_SECONDS = 0.1
_GRACE_SHARE = 0.2
"""If no process has searched after this many seconds, or this share of the time, this process searches
too."""
_MEND_SECONDS = 0.1
"""A process is replaced only if at least this much time is left."""
_OWN_MEMORY = 1 << 26


_MEMORY = 1 << 29


def _workers(text: str) -> int:
    return cores() if text == "all" else at_least(0)(text)


def _own_cores(text: str) -> int:
    return cores() if text == "all" else between(0, cores())(text)


_PLAYER_OPTIONS = (
    Option(
        "workers",
        _workers,
        0,
        "search processes, or all: one for each core; 0: it searches in its own",
        public=_own_cores,
    ),
    Option("playouts", int, None, "playouts per turn after which it stops early", public=at_least(1)),
    Option(
        "memory",
        at_least(1),
        _MEMORY,
        "bytes for the search trees together",
        public=between(1, _MEMORY),
    ),
    Option("cluster", check_address, "", "address of a cluster that searches too"),
    Option("ponder", switch, True, "the search processes go on while the others think", public=switch),
)
"""Options apart from the tuning."""


class UctPlayer(Player):
    """Searches until the deadline, or until nothing is left to be found, or for ``playouts`` per turn (None:
    no limit). With a limit, enough time and no processes, the same seed gives the same choices."""

    name = "uct"
    reports = True
    OPTIONS = (*_PLAYER_OPTIONS, *TUNING_OPTIONS)

    def __init__(self, *, seed: int = 0, tuning: Tuning | None = None, **options: Any) -> None:
        """``tuning`` sets the fields that are not options."""
        super().__init__(seed=seed, **options)
        usual = Tuning() if tuning is None else tuning
        self.playouts: int | None = self.options["playouts"]
        self.resumes = self.playouts is None
        self._ponder: bool = self.options["ponder"]
        self._workers: int = self.options["workers"]
        self._cluster: str = self.options["cluster"]
        memory: int = self.options["memory"]
        self._tuning = replace(
            usual,
            memory=memory // max(1, self._workers),
            **{option.name: options[option.name] for option in TUNING_OPTIONS if option.name in options},
        )
        self._pool: Pool | None = None
        self._search: Search | None = None
        self._line = BestLine()
        self._random = random.Random(seed)
        self._open_pool()

    def prepare(self, state: State, deadline: float) -> None:
        self._random = random.Random(f"{self.seed} {self.role}")
        self._line.forget()
        self._search = None
        pool = self._open_pool()
        if pool is not None:
            self._root_state = state
            pool.start(self.role, self.seed, self._tuning, self.machine)
        else:
            self._own_search()
        if not self.machine.is_terminal(state):
            self._think(state, deadline)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        return self._answer(self._think(state, deadline), options)

    def update_machine(self, machine: Machine) -> None:
        old = self.machine
        super().update_machine(machine)
        if self._search is not None:
            self._search.set_machine(machine)
        if self._pool is not None:
            self._line.move_to(old, machine)
            # Lines that the processes send now still begin there.
            self._root_state = self.machine.own_state(self._root_state)
            self._pool.set_machine(machine)

    def share(self, workers: int, ponder: bool) -> None:
        self._ponder = ponder
        if self._workers and workers:
            self._workers = workers
            if self._pool is not None:
                self._pool.resize(workers)

    def stop(self) -> None:
        self._search = None
        if self._pool is not None:
            self._pool.stop()
            self._pool = None

    def _open_pool(self) -> Pool | None:
        if (self._workers or self._cluster) and self._pool is None:
            self._pool = Pool(self._workers, self._cluster)
        return self._pool

    def _own_search(self) -> Search:
        """The search in this process, made when it is first needed."""
        if self._search is None:
            memory = self._tuning.memory if self._pool is None else _OWN_MEMORY
            search = Search(self.role, self.seed, replace(self._tuning, memory=memory))
            search.set_machine(self.machine)
            if self._pool is None:
                search.line = self._line
            self._search = search
        return self._search

    def _think(self, state: State, deadline: float) -> RootStatistics:
        """Search until the deadline, or until nothing is left to be found. Returns the merged statistics."""
        self._began = time.monotonic()
        self._shown = self._began
        machine = self.machine
        self._options = [
            self.in_order(machine.legal_moves(state, role), role) for role in range(len(machine.roles))
        ]
        self._counts = [len(moves) for moves in self._options]
        if not all(self._counts):
            return RootStatistics.empty(self._counts)
        if self._pool is None:
            return self._think_here(state, deadline)
        return self._think_together(self._pool, state, deadline)

    def _think_here(self, state: State, deadline: float) -> RootStatistics:
        search = self._own_search()
        search.set_root(state)
        shown_news = search.news
        while not search.step(deadline, self.playouts):
            if self._is_progress_due():
                self._show(merge(self._counts, [search.statistics()]))
            if self._is_interrupted():
                break
        if search.news != shown_news:
            self.found_out(search.news)
        return merge(self._counts, [search.statistics()])

    def _think_together(self, pool: Pool, state: State, deadline: float) -> RootStatistics:
        self._collect_lines(pool)
        self._line.follow(state)
        self._root_state = state
        if self._line.value == 100:
            pool.rest()
            return RootStatistics.empty(self._counts)
        pool.set_root(state, deadline)
        own: Search | None = None
        alone_from = self._began + min(_GRACE_SECONDS, _GRACE_SHARE * (deadline - self._began))
        while True:
            others = pool.read()
            self._collect_lines(pool)
            merged = merge(self._counts, others if own is None else [*others, own.statistics()])
            now = time.monotonic()
            left = deadline - MARGIN - now
            if left <= 0 or self._is_enough(merged, now):
                return merged
            if self._is_progress_due():
                self._show(merged)
            if left > _MEND_SECONDS:
                pool.mend()
            if others or now < alone_from:
                pool.watch(min(left, _LOOK_SECONDS))
                continue
            # No process searches yet, or none is left.
            if own is None:
                own = self._own_search()
                own.set_root(state)
            if own.step(deadline):
                pool.watch(min(left, _LOOK_SECONDS))
            if own.line.moves and self._line.beaten_by(own.line.value, len(own.line.moves)):
                self._line.keep(state, own.line.moves, own.line.value)

    def _is_enough(self, statistics: RootStatistics, now: float) -> bool:
        """Whether to stop before the deadline."""
        if statistics.value >= 0 or (self.playouts and statistics.playouts >= self.playouts):
            return True
        perfect = self._line.value == 100 and now > self._line.found_at + SHORTEN_SECONDS
        return perfect or self._is_interrupted()

    def _collect_lines(self, pool: Pool) -> None:
        """Keep the best of the lines that the processes have sent."""
        machine = self.machine
        for value, terms in pool.lines():
            if self._line.beaten_by(value, len(terms)):
                self._line.keep(self._root_state, [machine.move_id(0, term) for term in terms], value)
        while pool.news:
            self.found_out(pool.news.pop(0))

    def _is_interrupted(self) -> bool:
        return self.resumes and self.interrupted()

    def _is_progress_due(self) -> bool:
        return self.on_progress is not None and time.monotonic() - self._shown > _PROGRESS_SECONDS

    def _show(self, statistics: RootStatistics) -> None:
        self._shown = time.monotonic()
        if self.on_progress is not None and statistics.playouts:
            self.on_progress(self._choice(statistics))

    def _answer(self, statistics: RootStatistics, options: list[int]) -> Choice:
        choice = self._choice(statistics)
        if statistics.mixed and statistics.value < 0 and choice.candidates:
            moves = self._options[self.role]
            drawn = self._random.choices(moves, strategy(statistics, self.role).tolist())[0]
            ordered = sorted(choice.candidates, key=lambda candidate: candidate.move != drawn)
            choice = Choice(drawn, tuple(ordered), f"{choice.note}, drawn by its share")
        if choice.move not in options:
            choice = replace(choice, move=options[0])
        if self._pool is not None:
            if self._ponder and statistics.playouts and self._line.value < 100:
                self._pool.fix(self._options[self.role].index(choice.move))
            else:
                self._pool.rest()
        return choice

    def _choice(self, statistics: RootStatistics) -> Choice:
        moves = self._options[self.role]
        line = self._line if len(self._counts) == 1 else None
        if line and line.moves and not statistics.playouts:
            return Choice(line.moves[0], (), f"goes on with the line found, {line}")
        ranking = rank(statistics, self.role)
        if not any(ranking.visits) and statistics.value < 0:
            note = self._note(statistics) if statistics.playouts else "no time to search"
            return Choice(self._random.choice(moves), (), note)
        order = ranking.order
        if line and line.moves:
            chosen = moves.index(line.moves[0])
            order = [chosen, *(place for place in order if place != chosen)]
        values = [
            value if seen else None for value, seen in zip(ranking.values, ranking.is_known, strict=True)
        ]
        candidates = tuple(Candidate(moves[i], ranking.visits[i], values[i]) for i in order)
        return Choice(candidates[0].move, candidates, self._note(statistics, ranking))

    def _note(self, statistics: RootStatistics, ranking: Ranking | None = None) -> str:
        seconds = max(time.monotonic() - self._began, 1e-6)
        parts = [
            f"{statistics.playouts:,} playouts",
            f"{statistics.playouts / seconds:,.0f}/s",
            counted(statistics.nodes, "state"),
            f"depth {statistics.depth}",
        ]
        if self._pool is not None:
            parts.append(counted(self._workers, "worker") + (" and a cluster" if self._cluster else ""))
        if len(self._counts) == 1 and self._line.moves:
            parts.append(str(self._line))
        if statistics.value >= 0:
            parts.append(f"proven {statistics.value}")
        elif ranking is not None and len(self._counts) > 1:
            parts.append(f"expects {ranking.worth:.0f} of 100")
        return ", ".join(parts)
