"""`Player`: what every kind of player can be asked, and `Choice`, what it answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from gdl.errors import MoveError
from gdl.machine import Machine, State
from gdl.terms import sort_key
from players.options import Option, complete
from propnet.capabilities import lane_machine


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move that a player has thought about.

    Attributes:
        move: its id.
        visits: how often the search tried it; 0 where nothing was searched.
        value: the mean result it expects for itself, 0..100.
    """

    move: int
    visits: int = 0
    value: float = 0.0


@dataclass(frozen=True, slots=True)
class Choice:
    """A player's answer: the move, and for people what stands behind it.

    Attributes:
        move: id of the chosen move, for the machine of the state that was asked about.
        candidates: what was considered, the most visited first; may be empty.
        note: one line on the search, for people; may be empty.
    """

    move: int
    candidates: tuple[Candidate, ...] = ()
    note: str = ""


def same_numbering(one: Machine, other: Machine) -> bool:
    """Whether ids of moves and packed states of one machine mean the same on the other: they are made
    from networks with the same propositions and moves."""
    first, second = lane_machine(one), lane_machine(other)
    if first is None or second is None:
        return one is other
    a, b = first.network, second.network
    return a is b or (a.roles == b.roles and a.bases == b.bases and a.moves == b.moves)


def _ignore(_: str) -> None:
    pass


def _never() -> bool:
    return False


class Player(ABC):
    """One role of one match. The caller's order: ``start``, ``choose`` at each turn, ``stop``.

    A player is used by one thread. It never keeps time by itself: each call that may take
    long brings a deadline in seconds of :func:`time.monotonic`, and returns before it.
    A player object plays one match after another if started again.

    Attributes:
        name: the name by which people ask for it.
        seed: what its randomness comes from.
        options: the value of each of its :attr:`OPTIONS`, by name.
        machine: the machine it thinks on, from :meth:`start` on.
        role: index of its role.
        interrupted: what a player that :attr:`resumes` asks now and then while it thinks: whether to
            come back before the deadline with what it has found so far.
        found_out: is told what the player has found out about the game, for people to read.
        resumes: whether it does so, and goes on where it was when it is asked about the same state
            again.
        reports: whether it calls :attr:`on_progress` about ten times a second during a search.
        on_progress: takes the answer so far, for people to watch; None while nobody does.
    """

    name: str = ""

    OPTIONS: ClassVar[Sequence[Option]] = ()
    """What can be chosen about it besides its seed (:mod:`players.options`)."""

    machine: Machine
    role: int
    resumes: bool = False
    reports: bool = False

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        self.seed = seed
        self.options = complete(self.OPTIONS, options)
        self.interrupted: Callable[[], bool] = _never
        self.found_out: Callable[[str], None] = _ignore
        self.on_progress: Callable[[Choice], None] | None = None

    def start(self, machine: Machine, role: int, state: State, startclock: float, deadline: float) -> None:
        """Take a role of a match that begins in ``state``, and prepare until ``deadline``.

        Args:
            machine: the rules.
            role: index of the role to play.
            state: where the match begins.
            startclock: seconds that the match gives for preparation.
            deadline: when this call must have returned; time.monotonic() seconds.
        """
        self.machine = machine
        self.role = role
        self.prepare(self.own_state(state), deadline)

    def choose(self, state: State, deadline: float) -> Choice:
        """The move for ``state``, legal, before ``deadline``.

        The state may be of any machine of the same rules, and need not follow from the
        player's own last move: the caller says what has happened. The ids in the answer are
        those of the state's machine.

        Raises:
            MoveError: the role has no legal move in this state.
        """
        own = self.own_state(state)
        options = self.machine.legal_moves(own, self.role)
        if not options:
            raise MoveError(f"{self.machine.roles[self.role]} has no legal move in this state")
        choice = self.decide(own, options, deadline)
        return self.translated(choice, state.machine)

    def update_machine(self, machine: Machine) -> None:
        """Think on another, faster machine of the same rules from now on.

        Between two calls of :meth:`choose`, and never within one. What was found so far is to be kept
        where it can be; where :func:`same_numbering` holds, all of it.
        """
        self.machine = machine

    def share(self, workers: int, ponder: bool) -> None:
        """What it may use of the computer from the next search on, where it can be told so.

        Args:
            workers: search processes.
            ponder: whether they may search while the others think.
        """

    def stop(self) -> None:
        """The match is over or given up: free what was kept for it."""

    # --- what the kinds of players differ in -----------------------------------------------
    def prepare(self, state: State, deadline: float) -> None:
        """Use the time before the first move. ``state`` is one of :attr:`machine`."""

    @abstractmethod
    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        """Choose one of ``options``, the legal moves in ``state``, a state of :attr:`machine`."""

    # --- for them -----------------------------------------------------------------------------
    def own_state(self, state: State) -> State:
        """The same state on the machine that this player thinks on."""
        if state.machine is self.machine:
            return state
        return self.machine.state_of(state.propositions)

    def in_order(self, options: list[int], role: int | None = None) -> list[int]:
        """Move ids, of the player's role if no other is named, in the order of the moves' text, which
        is the same on every machine."""
        whose = self.role if role is None else role
        return sorted(options, key=lambda move: sort_key(self.machine.move(whose, move)))

    def translated(self, choice: Choice, machine: Machine) -> Choice:
        """An answer in ids of :attr:`machine`, in those of another machine of the same rules."""
        if machine is self.machine:
            return choice
        return replace(
            choice,
            move=self._translate(choice.move, machine),
            candidates=tuple(replace(c, move=self._translate(c.move, machine)) for c in choice.candidates),
        )

    def _translate(self, move: int, machine: Machine) -> int:
        return machine.move_id(self.role, self.machine.move(self.role, move))
