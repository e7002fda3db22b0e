"""The portfolio: puzzle solvers that take turns. It keeps and follows the best line that any of them finds.

The solvers' promises (:class:`players.solvers.Promise`) decide how time and memory are divided. Nested and
single-player tree search keep a best line, too (Cazenave 2009, Schadd et al. 2008). :func:`solve` runs the
portfolio alone, without a match.

>>> from gdl.syntax.parser import parse_rules
>>> from players.kaskade.make_machine import make_machine
>>> rules = "(role you) (init (at 0)) (legal you go) (<= (next (at 1)) (does you go)) (goal you 100)"
>>> machine = make_machine(parse_rules(rules + "(<= terminal (true (at 1)))"), "propnet")
>>> solution = solve(machine, seconds=10.0)
>>> solution.value, solution.moves, solution.proven
(100, ('go',), True)
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import ClassVar

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.terms import Term
from gdl.words import counted
from players.companions import Companion, TurnTaker, next_turn
from players.solvers import Certainty, LineSolver, Promise, Solution, Task, highest_goal, solvers_named
from propnet.capabilities import lane_machine


class BestLine:
    """A line of moves of role 0, and the state where it begins.

    Attributes:
        moves: move ids; empty if there is no line.
        value: the goal at its end, 0..100; -1 if there is no line.
        found_at: time at which it was found; time.monotonic() seconds.
    """

    def __init__(self) -> None:
        self.found_at = 0.0
        self.forget()

    def forget(self) -> None:
        """Drop the line."""
        self.moves: list[int] = []
        self.value = -1
        self._start: State | None = None

    def beaten_by(self, value: int, length: int) -> bool:
        """Whether a line of that value and length would be better: higher, or as high and shorter."""
        return (value, -length) > (self.value, -len(self.moves))

    def keep(self, start: State, moves: list[int], value: int) -> None:
        """Store this line as the best; ``start`` is the state where it begins."""
        self.moves, self.value, self._start = moves, value, start
        self.found_at = time.monotonic()

    def follow(self, state: State) -> None:
        """Advance along the line to this state of the match, or drop the line if it does not lead there."""
        start = self._start
        if start is None or start == state:
            return
        if self.moves and state.machine.next_state(start, [self.moves[0]]) == state:
            self.moves = self.moves[1:]
            self._start = state
        if self._start != state or not self.moves:
            self.forget()

    def move_to(self, old: Machine, new: Machine) -> None:
        """Convert the line to another machine of the same rules."""
        if self._start is not None:
            self.moves = [new.move_id(0, term) for term in self.terms(old)]
            self._start = new.state_of(self._start.propositions)

    def terms(self, machine: Machine) -> list[Term]:
        """The moves as terms."""
        return [machine.move(0, move) for move in self.moves]

    def __str__(self) -> str:
        return f"{self.value} in {counted(len(self.moves), 'move')}"


_RATE = 2.0
"""The solvers get this many times the time of the tree that they share the process with."""
_LEAST_MEMORY = 1 << 20
"""The least number of bytes that a solver gets."""
MASTER_SECONDS = 6.0
"""CPU seconds that a solver that masters the game gets before the tree begins..."""
_ALONE_SECONDS = 30.0
"""... and before other solvers do."""
_STEP_SECONDS = 0.05
"""Wall time of a step: a search looks at its commands only between two steps."""


class Portfolio(Companion):
    """Looks for the best line from one state of a one-player game, alone or together with a tree.

    Args:
        machine: the machine; one without lanes gets no solvers.
        start: the state, not terminal.
        line: stores each line that is better than the one it has.
        memory: bytes that the solvers may use together.
        seed: seed of their random choices.
        number: the number of this portfolio among several for the same match. Solvers that would do the same
            in all of them work in the first one alone.
        only: the name of the one solver to use, or its class; None for all that recognise the game.

    Attributes:
        value: the best goal value of any line, once it is proven; otherwise -1.
        hopeless: whether it is proven that no line comes to an end.
        mastered: whether one of the solvers is made for this game.
        solver: the name of the solver that found the line, or proved its value; empty while there is none.

    Raises:
        GdlError: there is no solver of that name.
    """

    least: ClassVar[float] = 0.001  # on a busy computer a step gets little of its wall time
    rate = _RATE

    def __init__(
        self,
        machine: Machine,
        start: State,
        line: BestLine,
        memory: int,
        seed: int,
        number: int = 0,
        only: str | type[LineSolver] | None = None,
    ) -> None:
        self.start = start
        self.solver = ""
        self.value = -1
        self.hopeless = self.mastered = False
        self._line = line
        self._members: list[TurnTaker[LineSolver]] = []
        self._done_states = 0
        network = lane_machine(machine)
        if network is None or len(machine.roles) != 1:
            return
        promises = [(kind, kind.recognise(network)) for kind in solvers_named(only)]
        able = [(kind, promise) for kind, promise in promises if promise and not (promise.alike and number)]
        able.sort(key=lambda one: -one[1].weight)
        sizes = _divided([promise for _, promise in able], memory)
        for (kind, promise), size in zip(able, sizes, strict=True):
            task = Task(network, start, self._keep, size, seed)
            self._members.append(TurnTaker(kind.name, promise.weight, partial(kind, task)))
        masters = [promise.weight for _, promise in able if promise.outcome is Certainty.MASTERS]
        self.mastered = bool(masters)
        for member in self._members:
            if masters and member.weight < max(masters):
                member.seconds = _ALONE_SECONDS * member.weight / max(masters)

    @property
    def active(self) -> bool:
        """Whether there is anything left to do."""
        return bool(self._members)

    @property
    def states(self) -> int:
        """Number of states that all solvers have looked at."""
        return self._done_states + _states(self._members)

    @property
    def at_work(self) -> list[str]:
        """The names of the solvers that have something left to do."""
        return [member.name for member in self._members]

    @property
    def shortens(self) -> bool:
        """Whether the solver that found the line is at work, and goes on for a shorter one."""
        return any(member.name == self.solver and member.work.shortens for member in self._members)

    def holds(self, state: State) -> bool:
        """Whether it need not restart at ``state``: the state is its start, the best line's value is proven,
        or no line comes to an end."""
        proven = self.value >= 0 and self._line.value == self.value
        return state == self.start or proven or self.hopeless

    def step(self, deadline: float) -> bool:
        """Run the solver with the least time per weight for a moment, to ``deadline`` (time.monotonic()) at
        most. Returns True when the work is finished."""
        if not self._members:
            return True
        member = next_turn(self._members)
        self._working = member.name
        finished, solver = member.step(min(deadline, time.monotonic() + _STEP_SECONDS)), member.work
        if solver.proven >= 0:
            self.value, self.solver = solver.proven, member.name
            self._drop(*self._members)
        elif solver.hopeless:
            self.hopeless, self.solver = True, member.name
            self._drop(*self._members)
        elif finished:
            self._drop(member)
        return not self._members

    def _drop(self, *members: TurnTaker[LineSolver]) -> None:
        self._done_states += _states(members)
        self._members = [member for member in self._members if member not in members]

    def _keep(self, value: int, moves: Sequence[int]) -> None:
        if self._line.beaten_by(value, len(moves)):
            self._line.keep(self.start, list(moves), value)
            self.solver = self._working


def _states(members: Iterable[TurnTaker[LineSolver]]) -> int:
    """Number of states that these solvers have looked at."""
    return sum(member.work.states for member in members if member.begun)


def _divided(promises: Sequence[Promise], memory: int) -> list[int]:
    """Bytes for each solver. Stated needs come first, but get at most half of the total if there are solvers
    without stated needs; these share the rest by weight."""
    fixed = sum(promise.memory or 0 for promise in promises)
    greedy = sum(promise.weight for promise in promises if promise.memory is None)
    room = memory // 2 if greedy else memory
    scale = min(1.0, room / fixed) if fixed else 1.0
    rest = memory - int(fixed * scale)
    sizes = (
        rest * promise.weight / greedy if promise.memory is None else promise.memory * scale
        for promise in promises
    )
    return [max(_LEAST_MEMORY, int(size)) for size in sizes]


MEMORY_BYTES = 600 * 1024**2
_LOOK_SECONDS = 0.2
"""Seconds between two calls of a watcher, about."""


_LEAST_TO_SHORTEN = 1.0


def time_to_shorten(began: float, end: float) -> float:
    """Seconds for a shorter line, once one is found: as long again as that took and at least a second, while
    time is left. ``began`` and ``end`` (time.monotonic()) are those of the search."""
    now = time.monotonic()
    return max(0.0, min(end - now, max(now - began, _LEAST_TO_SHORTEN)))


Watcher = Callable[[Solution, list[str]], None]
"""Called with the current solution and the names of the active solvers."""


def solve(
    machine: Machine,
    seconds: float,
    *,
    memory: int = MEMORY_BYTES,
    seed: int = 0,
    only: str | type[LineSolver] | None = None,
    watch: Watcher | None = None,
    shorten: bool = False,
) -> Solution:
    """The best line from the initial state that is found within a given wall time.

    Args:
        machine: a machine with lanes, of a game of one role.
        seconds: wall time; it returns earlier when the best line is proven or no solver goes on.
        memory: bytes that the solvers may use together.
        seed: seed of their random choices.
        only: the name of the one solver to use, or its class.
        watch: called about five times a second.
        shorten: whether a solver that can looks for a shorter line, as :func:`time_to_shorten` says.

    Raises:
        GdlError: the game has several roles, there is no such solver, or it does not recognise the game.
    """
    began, clock = time.monotonic(), time.process_time()
    if len(machine.roles) != 1:
        raise GdlError(
            f"this game has {len(machine.roles)} roles, and only a puzzle of one role can be solved",
            remedy="`ggp tabulate` finds the value of every state, for any number of roles",
        )
    start, line = machine.initial_state(), BestLine()
    if machine.is_terminal(start):
        return Solution(machine.result(start, 0) or 0, (), True, "", 0, 0.0)
    portfolio = Portfolio(machine, start, line, memory, seed, only=only)
    if not portfolio.active:
        raise GdlError(
            f"the solver {only!r} does not recognise this game" if only else "no solver recognises this game",
            remedy="try others with --solver, or play it: ggp play GAME",
        )

    lanes = lane_machine(machine)
    perfect = 100 if lanes is None else highest_goal(lanes.network)

    def so_far() -> Solution:
        moves = tuple(machine.rules.spell(term) for term in line.terms(machine))
        proven = portfolio.value >= 0 or portfolio.hopeless or line.value >= perfect
        used = time.process_time() - clock
        return Solution(line.value, moves, proven, portfolio.solver, portfolio.states, used)

    looked, end, solved = began, began + seconds, False
    while portfolio.active and time.monotonic() < end:
        portfolio.step(end)
        if line.value >= perfect and not solved:
            solved = True
            end = time.monotonic() + (time_to_shorten(began, end) if shorten and portfolio.shortens else 0.0)
        if watch is not None and time.monotonic() > looked + _LOOK_SECONDS:
            looked = time.monotonic()
            watch(so_far(), portfolio.at_work)
    return so_far()
