"""`State`: what is true at one moment of a match, as a value to hold, compare and print."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from gdl.errors import GdlError, MoveError
from gdl.syntax.parser import parse_term
from gdl.terms import Term

if TYPE_CHECKING:
    from gdl.machine import Machine


class State:
    """One state of one game: immutable, hashable, comparable, printable.

    Two states are equal when the same propositions are true in them, whichever machines
    they come from. States of the same machine compare by their keys, which is fast.

    Attributes:
        machine: the machine that made it.
        key: the machine's own packed form; hashable and picklable.
    """

    __slots__ = ("_hash", "key", "machine")

    def __init__(self, machine: Machine, key: Hashable) -> None:
        self.machine = machine
        self.key = key
        self._hash: int | None = None

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
        spell = machine.rules.spell
        return {
            spell(role): [spell(machine.move(r, m)) for m in machine.legal_moves(self, r)]
            for r, role in enumerate(machine.roles)
        }

    @property
    def goals(self) -> dict[str, int | None]:
        """Each role's goal value; None where the rules give none or several."""
        machine = self.machine
        return {machine.rules.spell(role): machine.goal(self, r) for r, role in enumerate(machine.roles)}

    def play(self, *moves: str | Term | int) -> State:
        """The state after one legal move per role, each given as GDL text, term or id.

        A role with a single legal move may be left out by giving only the moves of the
        roles that have a choice.

        Raises:
            MoveError: a move is not legal here, or their number fits neither way.
        """
        machine = self.machine
        options = [machine.legal_moves(self, r) for r in range(len(machine.roles))]
        if len(moves) != len(options):
            free = [r for r, o in enumerate(options) if len(o) > 1]
            if len(moves) != len(free) or not all(options):
                raise MoveError(
                    f"{len(moves)} moves given, but {len(options)} roles play"
                    f" and {len(free)} of them have a choice"
                )
            given = dict(zip(free, moves, strict=True))
            moves = tuple(given.get(r, o[0]) for r, o in enumerate(options))
        joint = [self._legal_id(r, move, options[r]) for r, move in enumerate(moves)]
        return machine.next_state(self, joint)

    def _legal_id(self, role: int, move: str | Term | int, options: list[int]) -> int:
        machine = self.machine
        try:
            index = (
                move
                if isinstance(move, int)
                else machine.move_id(role, parse_term(move) if isinstance(move, str) else move)
            )
        except GdlError as error:
            raise MoveError(f"{move} is no move of {machine.roles[role]}: {error.message}") from None
        if index not in options:
            raise MoveError(
                f"{move} is not legal for {machine.roles[role]} here",
                remedy=f"{len(options)} moves are: see State.legal",
            )
        return index

    def to_kif(self) -> str:
        """The true propositions, sorted, one per line: readable by every GGP tool."""
        spell = self.machine.rules.spell
        return "\n".join(spell(p) for p in sorted(self.propositions))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, State):
            return NotImplemented
        if self.machine is other.machine:
            return self.key == other.key
        return self.propositions == other.propositions

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self.propositions)
        return self._hash

    def __repr__(self) -> str:
        texts = [self.machine.rules.spell(p) for p in sorted(self.propositions)]
        shown = " ".join(texts[:8]) + (f" ... {len(texts) - 8} more" if len(texts) > 8 else "")
        return f"<State {shown}>"
