"""`Machine`: the one interface that every player, server and tool is written against.

A machine answers what the rules of one game mean: who plays, what is true at first, who may
do what, what follows, when it ends and what it is worth. The prover, the propositional network
and native code are machines; all of them give the same answers.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from gdl.errors import MoveError
from gdl.rules import Rules
from gdl.state import State
from gdl.terms import Term

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JointMove = tuple[int, ...]
"""One move id per role, in role order."""


@dataclass(frozen=True, slots=True)
class Playouts:
    """What a batch of uniformly random playouts (depth charges) found.

    Attributes:
        goals: int16, shape (n, roles): each playout's goal values 0..100, the highest that
            holds in the final state; -1 where a role has none there.
        lengths: int32, shape (n,): joint moves made until the terminal state.
        cut: how many playouts hit the step limit instead of a terminal state; their goals
            are those of the state they were cut in.
    """

    goals: NDArray[np.int16]
    lengths: NDArray[np.int32]
    cut: int = 0

    @property
    def states(self) -> int:
        """States visited after the first one of each playout (state changes made)."""
        return int(self.lengths.sum())


class Machine(ABC):
    """The meaning of one game's rules. See the module's first lines.

    Roles are numbered in the order of the rules. Moves have integer ids per role, base
    propositions integer ids per machine; both are stable for the life of the machine, and
    for machines that ground the rules they are the ranks in the sorted list of all moves
    (propositions), so that every process that loads the same rules has the same ids.
    A machine that does not ground (the prover) numbers what it meets in the order it meets it.

    States are :class:`~gdl.state.State`: immutable, hashable, comparable; they hold a ``key``
    that only their machine understands.
    """

    level: str = ""
    """Which step of the kaskade this is: ``prover``, ``propnet`` or ``native``."""

    def __init__(self, rules: Rules, roles: Sequence[Term]) -> None:
        self.rules = rules
        self.roles: tuple[Term, ...] = tuple(roles)

    # --- names of things -------------------------------------------------------------
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

    # --- the rules ---------------------------------------------------------------------
    @abstractmethod
    def initial_state(self) -> State:
        """The state before the first move."""

    @abstractmethod
    def legal_moves(self, state: State, role: int) -> list[int]:
        """Ids of the moves that the role may make, ascending. Empty only where the rules
        leave a role without a move (which correct GDL allows in terminal states alone)."""

    @abstractmethod
    def next_state(self, state: State, joint_move: Sequence[int]) -> State:
        """The state after one move id per role. Legality is the caller's business."""

    @abstractmethod
    def is_terminal(self, state: State) -> bool:
        """Whether the match ends in this state."""

    @abstractmethod
    def goal(self, state: State, role: int) -> int | None:
        """The role's goal value (0..100); None where no value or more than one holds."""

    def result(self, state: State, role: int) -> int | None:
        """What players take a match that ends in this state to be worth: the role's goal value, the highest
        where several hold (some public games give a winner both 100 and 0); None where none does.
        Arrays of goals (playouts, successors) tell the same."""
        return self.goal(state, role)

    # --- states in and out -------------------------------------------------------------
    @abstractmethod
    def true_propositions(self, key: Hashable) -> frozenset[Term]:
        """What is true in the state with this key."""

    @abstractmethod
    def state_of(self, propositions: Iterable[Term]) -> State:
        """The state in which exactly these propositions are true (from another machine, a
        trace, a person). Raises StateError for a proposition this machine cannot hold."""

    # --- many at once: machines with lanes override these ---------------------------------
    def playouts(
        self, n: int, seed: int = 0, state: State | None = None, max_steps: int = 100_000
    ) -> Playouts:
        """Play ``n`` games to the end with uniformly random legal moves.

        Args:
            n: how many playouts.
            seed: the same seed gives the same playouts on the same machine.
            state: where each starts; the initial state by default.
            max_steps: a playout is cut after this many joint moves (games without a step
                limit exist). A playout also stops where a role has no legal move.
        """
        import numpy as np

        rng = random.Random(seed)
        goals = np.full((n, len(self.roles)), -1, np.int16)
        lengths = np.zeros(n, np.int32)
        cut = 0
        start = self.initial_state() if state is None else state
        roles = range(len(self.roles))
        for i in range(n):
            now = start
            steps = 0
            while not self.is_terminal(now):
                options = [self.legal_moves(now, r) for r in roles]
                if steps >= max_steps or not all(options):
                    cut += 1
                    break
                now = self.next_state(now, [rng.choice(o) for o in options])
                steps += 1
            lengths[i] = steps
            for r in roles:
                value = self.result(now, r)
                goals[i, r] = -1 if value is None else value
        return Playouts(goals, lengths, cut)

    def expand(self, states: Sequence[State]) -> list[list[tuple[JointMove, State]]]:
        """Every joint move and successor of each state; ``[]`` for terminal states."""
        found: list[list[tuple[JointMove, State]]] = []
        for state in states:
            if self.is_terminal(state):
                found.append([])
                continue
            options = [self.legal_moves(state, r) for r in range(len(self.roles))]
            found.append([(joint, self.next_state(state, joint)) for joint in product(*options)])
        return found

    # --- conveniences written once --------------------------------------------------------
    def role_id(self, role: Term) -> int:
        """The index of a role. Raises MoveError if the game has no such role."""
        try:
            return self.roles.index(role)
        except ValueError:
            names = ", ".join(map(str, self.roles))
            raise MoveError(f"the game has no role {role}", remedy=f"its roles are {names}") from None

    def close(self) -> None:
        """Free what the machine holds outside Python (compiled code, processes)."""
