"""The interface of players: `Player`, and its answer, `Choice`."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from gdl.ends import no_move
from gdl.errors import MoveError
from gdl.machine import Machine, State
from players.options import Option, complete
from propnet.capabilities import lane_machine

if TYPE_CHECKING:
    from players.belief.belief import Belief

LONGEST_CLOCK = 86_400
"""The longest clock of a match in seconds: a day."""

# Reserves of a turn. How early a server answers over HTTP is learnt (ggp/server/margin.py).
MARGIN = 0.01
"""Seconds between the expected end of a search's last batch and the deadline."""
TOLERANCE = 0.1
"""Seconds after the deadline at which an answer still counts. The connection and the scheduler use them; the
player gets the deadline itself."""
GRACE_SECONDS = 1.0
"""The same at a table of the page, for players at addresses."""
LATE_SECONDS = 5.0
"""Seconds after a clock during which a silent player counts as late, and not as hanging."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A move that a player has considered.

    Attributes:
        move: its id.
        visits: number of times the search tried it; 0 without a search.
        value: the mean result it expects for itself, 0..100; None if nothing is known of the move yet.
    """

    move: int
    visits: int = 0
    value: float | None = None

    def rounded(self, digits: int) -> float | None:
        """The value rounded to ``digits`` after the decimal point."""
        return None if self.value is None else round(self.value, digits)


@dataclass(frozen=True, slots=True)
class Choice:
    """A player's answer: the move, and the reasons for people to read.

    Attributes:
        move: id of the chosen move, for the machine of the given state.
        candidates: the moves considered, the most visited first; may be empty.
        note: one line on the search, for people; may be empty.
    """

    move: int
    candidates: tuple[Candidate, ...] = ()
    note: str = ""

    @property
    def expects(self) -> float | None:
        """The result that the player expects, 0..100; None without a search."""
        return self.candidates[0].rounded(1) if self.candidates else None


def same_numbering(machine: Machine, successor: Machine) -> bool:
    """Whether move ids and packed states mean the same on both machines, as they do for networks with the
    same propositions and moves."""
    first, second = lane_machine(machine), lane_machine(successor)
    if first is None or second is None:
        return machine is successor
    a, b = first.network, second.network
    return a is b or (a.roles == b.roles and a.bases == b.bases and a.moves == b.moves)


class IllegalChoiceError(MoveError):
    """A player has answered with a move that is not a legal move of its role."""


class Player(ABC):
    """Plays one role of one match; a subclass implements :meth:`decide`.

    >>> class First(Player):
    ...     def decide(self, state, options, deadline):
    ...         return Choice(options[0], note="the first one")
    >>> import ggp
    >>> ggp.load("tictactoe").play([First, "random"]).players
    {'x': 'First', 'o': 'random'}

    The caller calls ``start``, then ``choose`` at each turn, then ``stop``; after that it may start again.

    Only one thread uses a player. Calls that may take long get a deadline in seconds of
    :func:`time.monotonic`, and return before it.

    Attributes:
        name: the name by which people select it; by default the name of the class.
        seed: seed of its random choices.
        options: the value of each of its :attr:`OPTIONS`, by name.
        machine: the machine it thinks on, from :meth:`start` on.
        role: index of its role.
        timed: whether deadlines are meant for it; people take their time.
        resumes: whether it calls :attr:`interrupted` now and then while it thinks, and resumes its search
            when it is asked about the same state again.
        interrupted: returns whether to answer now, before the deadline, with the current best move.
        found_out: called with facts about the game that the player discovers, for people to read.
        reports: whether it calls :attr:`on_progress` about ten times a second during a search.
        on_progress: called with the current answer, for people to watch; None if no one is watching.
    """

    name: str = ""

    OPTIONS: ClassVar[Sequence[Option]] = ()
    """Its options other than the seed (:mod:`players.options`)."""

    machine: Machine
    role: int
    timed: bool = True
    resumes: bool = False
    reports: bool = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:  # an inherited name belongs to another player
            cls.name = cls.__name__

    def __init__(self, *, seed: int = 0, **options: Any) -> None:
        self.seed = seed
        self.options = complete(self.OPTIONS, options)
        self.interrupted: Callable[[], bool] = lambda: False
        self.found_out: Callable[[str], None] = lambda _: None
        self.on_progress: Callable[[Choice], None] | None = None

    def start(self, machine: Machine, role: int, state: State, startclock: float, deadline: float) -> None:
        """Take a role of a match that begins in ``state``, and prepare until ``deadline``; the match gives
        ``startclock`` seconds for that."""
        self.machine = machine
        self.role = role
        self.prepare(self.machine.own_state(state), deadline)

    def choose(self, state: State, deadline: float) -> Choice:
        """A legal move for ``state``, before ``deadline``.

        Raises MoveError if the role has none, and IllegalChoiceError if :meth:`decide` does not return a
        choice of a legal move.

        The state may be of any machine of the same rules, and need not follow from the player's own last
        move. The ids in the answer are those of the state's machine.
        """
        own = self.machine.own_state(state)
        options = self.machine.legal_moves(own, self.role)
        if not options:
            raise MoveError(no_move(own, [self.role]))
        choice = self.decide(own, options, deadline)
        if not isinstance(choice, Choice):
            raise IllegalChoiceError(f"{self.name} answers {choice!r}", remedy="decide returns Choice(move)")
        if choice.move not in options:
            raise IllegalChoiceError(f"{self.name} chooses {choice.move!r}", remedy="choose one of options")
        return self.translated(choice, state.machine)

    def choose_from(self, belief: Belief, deadline: float) -> Choice:
        """A legal move in a match of hidden information, of which the role knows only ``belief``.

        By default this is the choice of :meth:`choose` in one possible state, drawn by weight. The ids in the
        answer are those of the belief's machine.
        """
        rng = random.Random(f"{self.seed} {self.role} {len(belief.history)}")
        return self.choose(belief.draw(rng), deadline)

    def update_machine(self, machine: Machine) -> None:
        """Think on another, faster machine of the same rules from now on; never called within :meth:`choose`.

        Players keep as much of their knowledge as they can, and all of it if :func:`same_numbering` holds.
        """
        self.machine = machine

    def share(self, workers: int, ponder: bool) -> None:
        """From the next search on, use this number of search processes, which may search during the others'
        turns if ``ponder``; players may ignore it."""

    def stop(self) -> None:
        """Free its resources: the match is over or cancelled."""

    def prepare(self, state: State, deadline: float) -> None:
        """Use the time before the first move. ``state`` is a state of :attr:`machine`."""

    @abstractmethod
    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        """Choose one of ``options``, the legal moves in ``state``, a state of :attr:`machine`."""

    def in_order(self, options: list[int], role: int | None = None) -> list[int]:
        """The move ids of a role, by default its own, in the order of the moves' text."""
        return self.machine.in_order(self.role if role is None else role, options)

    def translated(self, choice: Choice, machine: Machine) -> Choice:
        """An answer with ids of :attr:`machine`, converted to ids of another machine of the same rules."""
        if machine is self.machine:
            return choice
        return replace(
            choice,
            move=self._translate(choice.move, machine),
            candidates=tuple(replace(c, move=self._translate(c.move, machine)) for c in choice.candidates),
        )

    def _translate(self, move: int, machine: Machine) -> int:
        return machine.move_id(self.role, self.machine.move(self.role, move))
