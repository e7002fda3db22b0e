"""Numbers of propositions and moves, given in the order in which they are first met."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gdl.compile.program import Predicate, Program
from gdl.errors import MoveError, StateError
from gdl.prover.schema import full, plain
from gdl.terms import DOES, GOAL, LEGAL, TRUE, Term


class Numbers(dict[Any, int]):
    """Numbers for the rows of a relation, given by a function when a row is first met."""

    def __init__(self, number: Callable[[Any], int]) -> None:
        super().__init__()
        self._number = number

    def __missing__(self, row: Any) -> int:
        found = self[row] = self._number(row)
        return found


class Numbering:
    """The numbers that a machine has given to propositions and to the moves of its roles.

    Args:
        program: the rules.
        by_role: the predicates that are about one role, see :func:`gdl.compile.split_by_role.split_by_role`.
        roles: in their order.
        slot: gives the slot of a predicate of ``does`` in the tables of a joint move.

    Attributes:
        propositions: by number.
        places: by number of a proposition its predicate of ``true`` and its row.
        true: by predicate of ``true`` the numbers of its rows.
        moves: by role and number.
    """

    def __init__(
        self,
        program: Program,
        by_role: dict[tuple[int, int], int],
        roles: Sequence[Term],
        slot: Callable[[int], int],
    ) -> None:
        self._program = program
        self._by_role = by_role
        self._roles = roles
        self._slot = slot
        self.propositions: list[Term] = []
        self.places: list[tuple[int, Any]] = []
        self.true = {p.index: Numbers(self._numberer(p.index)) for p in program.named(TRUE, 1)}
        self.moves: list[list[Term]] = [[] for _ in roles]
        self._does: list[list[tuple[int, Any] | None]] = [[] for _ in roles]
        self._move_ids: list[dict[Term, int]] = [{} for _ in roles]

    def _numberer(self, predicate: int) -> Callable[[Any], int]:
        def number(row: Any) -> int:
            term = self._program.arguments(predicate, full(row))[0]
            self.propositions.append(term)
            self.places.append((predicate, row))
            return len(self.propositions) - 1

        return number

    def proposition_id(self, proposition: Term) -> int:
        """The number of a proposition.

        Raises:
            StateError: the rules have none of this form.
        """
        found = self._program.row(Term(TRUE, proposition)) if proposition.ground else None
        if found is None:
            raise StateError(f"{proposition} is no proposition of the game", remedy="check its spelling")
        predicate, row = found
        return self.true[predicate][plain(row)]

    def move_id(self, role: int, move: Term) -> int:
        """The number of a role's move.

        Raises:
            MoveError: the rules have none of this form.
        """
        known = self._move_ids[role].get(move)
        if known is not None:
            return known
        place = self._program.row(Term(DOES, self._roles[role], move)) if move.ground else None
        if place is None:
            raise MoveError(f"{move} is no move of {self._roles[role]}", remedy="check its spelling")
        return self._new_move(role, move)

    def _new_move(self, role: int, move: Term) -> int:
        ids = self._move_ids[role]
        known = ids.get(move)
        if known is not None:
            return known
        index = ids[move] = len(self.moves[role])
        self.moves[role].append(move)
        self._does[role].append(None)
        return index

    def does_row(self, role: int, index: int) -> tuple[int, Any]:
        """The slot and row of ``does`` for a move; the slot is -1 where no rule can read it."""
        found = self._does[role][index]
        if found is None:
            place = self._program.row(Term(DOES, self._roles[role], self.moves[role][index]))
            found = (-1, None) if place is None else (self._slot(place[0]), plain(place[1]))
            self._does[role][index] = found
        return found

    def of_role(self, name: str, role: int) -> list[tuple[int, Numbers]]:
        """The relations with a role's legal moves (goals), and the numbers of their rows; a
        row of another role has the number -1, and so has a goal that is no number.

        Args:
            name: ``legal`` or ``goal``.
            role: its number.
        """
        assert name in (LEGAL, GOAL)
        found = []
        term = self._roles[role]
        for predicate in self._program.named(name, 2):
            index = self._by_role.get((predicate.index, self._program.table.known(term)), predicate.index)

            def number(row: Any, predicate: Predicate = predicate) -> int:
                who, what = self._program.arguments(predicate.index, full(row))
                if who is not term:
                    return -1
                return self._new_move(role, what) if name == LEGAL else _goal_value(what)

            found.append((index, Numbers(number)))
        return found


def _goal_value(term: Term) -> int:
    name = term.name
    return int(name) if not term.args and name.isascii() and name.isdecimal() and len(name) < 5 else -1
