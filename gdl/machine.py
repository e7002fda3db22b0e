"""`Machine` and `State`: the one interface that every player, server and tool is written against.

A machine answers questions about the rules of one game: its roles, initial state, legal moves, successors,
terminal states and goals. All machines give the same answers.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from numbers import Integral
from operator import xor
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gdl.errors import GdlError, MoveError, StateError, cannot_play, whole_number
from gdl.rules import Rules
from gdl.syntax.parser import parse_term
from gdl.terms import Term, sort_key
from gdl.words import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JointMove = tuple[int, ...]
"""One move id per role, in role order."""
Move = str | Term | int
"""A role's move as GDL text, as a term, or by its id."""
_JOINT = (list, tuple, Mapping)
MOST_PLAYOUTS = 100_000_000
"""Most playouts of one call: their results take a gigabyte in a game of three roles."""


@dataclass(frozen=True, slots=True)
class Playouts:
    """The results of a batch of uniformly random playouts.

    Attributes:
        goals: int16, shape (n, roles): each role's highest goal value (0..100) in the last state; -1 where
            none holds, and for all roles where one of them has no legal move.
        lengths: int32, shape (n,): joint moves from the first to the last state.
        cut: how many playouts ended before a terminal state.
    """

    goals: NDArray[np.int16]
    lengths: NDArray[np.int32]
    cut: int = 0

    @property
    def states(self) -> int:
        """States visited after the first one of each playout."""
        return int(self.lengths.sum())


class _MoveTexts(dict[int, str]):
    """A role's moves as readable GDL, by their ids, spelled when first asked for; ``ids`` has those that were
    spelled, the other way round."""

    def __init__(self, machine: Machine, role: int) -> None:
        super().__init__()
        self.ids: dict[object, int] = {}
        self._machine, self._role = weakref.ref(machine), role

    def __missing__(self, index: int) -> str:
        machine = self._machine()
        assert machine is not None
        text = machine.rules.spell(machine.move(self._role, index))
        self.ids[text] = index
        self[index] = text
        return text


class Machine(ABC):
    """The meaning of one game's rules.

    Roles are numbered in the order of the rules. Moves have integer ids per role, base propositions
    integer ids per machine; both are stable for the life of the machine. A machine that grounds the rules
    numbers moves and propositions in sorted order, so that every process that loads the same rules has the
    same ids. The prover does not ground: it numbers them in the order in which it meets them.

    >>> import ggp
    >>> machine = ggp.load("tictactoe").machine("propnet")
    >>> first = machine.initial_state()
    >>> machine.role_names, [len(machine.legal_moves(first, role)) for role in range(2)]
    (('x', 'o'), [9, 1])
    >>> machine.playouts(100, seed=1).goals.shape
    (100, 2)
    """

    role_names: tuple[str, ...]
    """The roles as readable GDL."""

    move_texts: list[_MoveTexts]
    """Per role its moves as readable GDL."""

    level: str = ""
    """Its level in the kaskade: ``prover``, ``propnet`` or ``native``."""

    has_lanes: ClassVar[bool] = False
    """Whether it has a network and answers for 512 states at once (:mod:`propnet.capabilities`)."""

    draw: Callable[[State], str] | None = None
    """Draws its states for :meth:`State.board`; set by who knows how."""

    lift: Callable[[State], State] | None = None
    """Hands what :meth:`State.play` comes to over to a better machine of the same rules once there is one."""

    draw_svg: Callable[[State], str] | None = None
    """Draws its states as SVG for notebooks, likewise."""

    def __init__(self, rules: Rules, roles: Sequence[Term]) -> None:
        self.rules = rules
        self.roles: tuple[Term, ...] = tuple(roles)
        self.role_names: tuple[str, ...] = tuple(map(rules.spell, self.roles))
        self.move_texts = [_MoveTexts(self, role) for role in range(len(self.roles))]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "move_texts"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.move_texts = [_MoveTexts(self, role) for role in range(len(self.roles))]

    def __deepcopy__(self, memo: object) -> Self:
        return self  # nothing that it says ever changes, and copying it takes seconds

    @abstractmethod
    def proposition(self, index: int) -> Term:
        """The base proposition with this id, ``(cell 1 1 b)``. Raises IndexError."""

    @abstractmethod
    def proposition_id(self, proposition: Term) -> int:
        """The id of a base proposition. Raises StateError if it can never be true."""

    @abstractmethod
    def move(self, role: int, index: int) -> Term:
        """The move of a role with this id, ``(mark 1 1)``. Raises IndexError."""

    @abstractmethod
    def move_id(self, role: int, move: Term) -> int:
        """The id of a role's move. Raises MoveError if the role can never make it."""

    @abstractmethod
    def initial_state(self) -> State:
        """The state before the first move."""

    @abstractmethod
    def legal_moves(self, state: State, role: int) -> list[int]:
        """Ids of the moves that the role may make, ascending. In correct GDL only terminal states
        leave a role without moves."""

    def in_order(self, role: int, moves: Iterable[int]) -> list[int]:
        """A role's move ids in the order of the moves' text, which is the same on every machine."""
        return sorted(moves, key=lambda move: sort_key(self.move(role, move)))

    def options(self, state: State) -> tuple[tuple[int, ...], ...]:
        """The legal moves of all roles, in role order, as :meth:`legal_moves` gives those of one."""
        return tuple(tuple(self.legal_moves(state, role)) for role in range(len(self.roles)))

    @abstractmethod
    def next_state(self, state: State, joint_move: Sequence[int]) -> State:
        """The state after one move id per role. Legality is the caller's business."""

    def percepts(self, state: State, joint_move: Sequence[int]) -> tuple[frozenset[Term], ...]:
        """The percepts of each role for this joint move in this state: per role the ``?p`` of
        ``(sees role ?p)``. Empty in games without ``sees``, in which each role sees every move instead
        (:mod:`gdl.information`)."""
        return (frozenset(),) * len(self.roles)

    @abstractmethod
    def is_terminal(self, state: State) -> bool:
        """Whether the match ends in this state."""

    @abstractmethod
    def goal(self, state: State, role: int) -> int | None:
        """The role's goal value (0..100); None if no value or more than one holds."""

    def result(self, state: State, role: int) -> int | None:
        """The role's result of a match that ends in this state: its goal value, None if none holds.
        If several hold (some public games give a winner both 100 and 0), our machines override this to
        give the highest. Arrays of goals (playouts, successors) hold the same values."""
        return self.goal(state, role)

    @abstractmethod
    def true_propositions(self, key: Hashable) -> frozenset[Term]:
        """The true propositions of the state with this key."""

    def state_hash(self, key: Hashable) -> int:
        """A hash of the true propositions of a state (by its key), equal for all machines in this process."""
        return reduce(xor, map(hash, self.true_propositions(key)), 0)

    @abstractmethod
    def state_of(self, propositions: Iterable[Term]) -> State:
        """The state in which exactly these propositions are true. Raises StateError for a proposition
        that can never be true."""

    def playouts(
        self, n: int, seed: int = 0, state: State | None = None, max_steps: int = 100_000
    ) -> Playouts:
        """Play ``n`` games to the end with uniformly random legal moves.

        Args:
            n: how many playouts, at most :data:`MOST_PLAYOUTS`.
            seed: the same seed gives the same playouts on the same machine.
            state: where each starts, of any machine of the same rules; the initial state by default.
            max_steps: a playout is cut after this many joint moves, and where a role has no legal move.

        Raises GdlError: a number is out of its range, or the state is of another game.
        """
        n, seed = whole_number(n, "n", 0, MOST_PLAYOUTS), whole_number(seed, "seed")
        start = self.initial_state() if state is None else self.own_state(state)
        return self._playouts(n, seed, start, whole_number(max_steps, "max_steps", 0, 2**31 - 1))

    @abstractmethod
    def _playouts(self, n: int, seed: int, start: State, max_steps: int) -> Playouts:
        """See :meth:`playouts`; ``start`` is a state of this machine."""

    def own_state(self, state: State) -> State:
        """The same state on this machine. Raises GdlError if it is not a state of the same game."""
        if not isinstance(state, State):
            raise StateError(f"{state!r:.60} is not a state", remedy="game.initial is the first one")
        return state if state.machine is self else self.state_of(state.propositions)

    def expand(self, states: Sequence[State]) -> list[list[tuple[JointMove, State]]]:
        """Every joint move and successor of each state; ``[]`` for terminal states."""
        expanded: list[list[tuple[JointMove, State]]] = []
        for state in states:
            joints: Iterable[JointMove] = ()
            if not self.is_terminal(state):
                joints = product(*[self.legal_moves(state, r) for r in range(len(self.roles))])
            expanded.append([(joint, self.next_state(state, joint)) for joint in joints])
        return expanded

    def role_id(self, role: Term) -> int:
        """The index of a role. Raises MoveError if the game has no such role."""
        try:
            return self.roles.index(role)
        except ValueError:
            names = ", ".join(map(str, self.roles))
            raise MoveError(f"the game has no role {role}", remedy=f"its roles are {names}") from None

    def close(self) -> None:
        """Free what the machine holds outside Python (compiled code, processes)."""

    def __repr__(self) -> str:
        return f"<Machine {self.rules.name or 'without a name'}: {self.level}>"


class State:
    """One state of one game: immutable, hashable, comparable, printable; the ``machine`` that made it and its
    own packed ``key``, hashable and picklable.

    Two states are equal when the same propositions are true in them, whichever machines they come from.
    States of the same machine compare by their keys, which is fast.

    >>> import ggp
    >>> state = ggp.load("tictactoe").initial
    >>> state.turn, len(state.legal["x"]), state.legal["o"], state.terminal, state.goals
    (['x'], 9, ['noop'], False, {'x': 50, 'o': 50})
    >>> state.play("(mark b 2)") == state.play({"x": "(mark b 2)"}) == state.play(["(mark b 2)", "noop"])
    True
    >>> print(state.play("(mark b 2)").to_kif(), len(state.propositions), len(state.board()) > 9)
    (cell b 2 x)
    (control o) 1 True
    """

    __slots__ = ("_hash", "key", "machine")

    def __init__(self, machine: Machine, key: Hashable) -> None:
        self.machine = machine
        self.key = key

    @property
    def propositions(self) -> frozenset[Term]:
        """The base propositions that are true."""
        return self.machine.true_propositions(self.key)

    @property
    def terminal(self) -> bool:
        """Whether the match is over."""
        return self.machine.is_terminal(self)

    @property
    def legal(self) -> dict[str, list[str]]:
        """Each role's legal moves as readable GDL."""
        machine = self.machine
        moves = zip(machine.move_texts, machine.options(self), strict=True)
        return dict(
            zip(machine.role_names, [[*map(texts.__getitem__, ids)] for texts, ids in moves], strict=True)
        )

    @property
    def turn(self) -> list[str]:
        """The roles that have a choice; none at the end. If no role has one, ``play()`` moves on."""
        return [] if self.terminal else [name for name, moves in self.legal.items() if len(moves) > 1]

    @property
    def goals(self) -> dict[str, int | None]:
        """Each role's goal value; None where the rules give none or several."""
        machine = self.machine
        return {name: machine.goal(self, role) for role, name in enumerate(machine.role_names)}

    def board(self) -> str:
        """The state for people: its board as lines of text, and the facts that are on no board. Machines that
        do not come from a ``Game`` draw no board; they return the same as :meth:`to_kif`."""
        draw = self.machine.draw
        return self.to_kif() if draw is None else draw(self)

    def _repr_svg_(self) -> str | None:
        """The board in a notebook; None if the machine draws none."""
        draw = self.machine.draw_svg
        return None if draw is None else draw(self)

    def play(self, *moves: Move | Sequence[Move] | Mapping[str, Move]) -> State:
        """The state after a joint move. Raises MoveError if the moves are not one, or not legal.

        Args:
            moves: one per role in role order, alone or in a list, or only those of the roles in :attr:`turn`;
                or a mapping from role names to moves, where roles that have no choice may be left out.
        """
        machine = self.machine
        given: Any = moves[0] if len(moves) == 1 and isinstance(moves[0], _JOINT) else moves
        if machine.is_terminal(self):
            raise MoveError("the match is over", remedy="state.goals has the result")
        options = machine.options(self)
        if len(given) != len(options) or (given is not moves and isinstance(given, Mapping)):
            given = self._completed(given, options)
        after = machine.next_state(self, [self._legal_id(r, m, options[r]) for r, m in enumerate(given)])
        return after if machine.lift is None else machine.lift(after)

    def _completed(self, given: Any, options: Sequence[Sequence[int]]) -> list[object]:
        """A sequence or mapping of moves in role order, with the only moves of roles that it leaves out."""
        names = self.machine.role_names
        if not isinstance(given, Mapping):
            free = [name for name, moves in zip(names, options, strict=True) if len(moves) != 1]
            if len(given) != len(free):
                remedy = f"the roles with a choice are {', '.join(free)}" if free else "play() moves on"
                raise MoveError(f"{counted(len(given), 'move')} given for {len(names)} roles", remedy=remedy)
            rest = iter(given)
            return [moves[0] if len(moves) == 1 else next(rest) for moves in options]
        for name in given:
            if name not in names:
                raise MoveError(f"the game has no role {name}", remedy=f"its roles are {', '.join(names)}")
        for name, moves in zip(names, options, strict=True):
            if name not in given and len(moves) != 1:
                raise MoveError(f"{name} has {len(moves)} legal moves here, and none is given")
        return [given[name] if name in given else o[0] for name, o in zip(names, options, strict=True)]

    def _legal_id(self, role: int, move: object, options: Sequence[int]) -> int:
        machine, texts = self.machine, self.machine.move_texts[role]
        own = texts.ids.get(move) if isinstance(move, str) else move if type(move) is int else None
        if own is not None and own in options:
            return own
        fault = "not legal here"
        try:
            term = parse_term(move, notation="auto") if isinstance(move, str) else move
            if not isinstance(term, Term) and (isinstance(term, bool) or not isinstance(term, Integral)):
                raise GdlError("a move is its text, a term or its id")
            index = machine.move_id(role, term) if isinstance(term, Term) else int(term)
            if index in options:
                return index
        except MoveError:
            pass  # the role can never make it
        except GdlError as error:
            fault = f"{error.message:.200}"
        raise cannot_play(machine.role_names[role], move, [texts[option] for option in options], fault)

    def to_kif(self) -> str:
        """The true propositions, sorted, one per line: readable by every GGP tool."""
        return "\n".join(self._texts())

    def _texts(self) -> list[str]:
        return [self.machine.rules.spell(p) for p in sorted(self.propositions)]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if self.machine is other.machine:
            return self.key == other.key
        return self.propositions == other.propositions

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:  # it is the first time
            self._hash: int = self.machine.state_hash(self.key)
            return self._hash

    def __reduce__(self) -> tuple[type[State], tuple[Machine, Hashable]]:
        return State, (self.machine, self.key)  # hashes of texts are another process's own

    def __repr__(self) -> str:
        texts = self._texts()
        shown = " ".join(texts[:8]) + (f" ... {len(texts) - 8} more" if len(texts) > 8 else "")
        return f"<State {shown}>"
