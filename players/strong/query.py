"""What a table says about a state and about each of its moves."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from gdl.errors import StateError
from gdl.machine import JointMove, State
from gdl.syntax.parser import parse_terms
from gdl.terms import Term
from players.strong.tables import StateValue, Tables


@dataclass(frozen=True, slots=True)
class JointValue:
    """A joint move with the value of the state that it leads to."""

    joint: JointMove
    value: StateValue


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """The value of a state, and of each joint move in it.

    Attributes:
        choosers: the roles that have more than one move.
        moves: the joint moves, none for a terminal state.
    """

    value: StateValue
    choosers: tuple[int, ...]
    moves: tuple[JointValue, ...]


def ask(tables: Tables, state: State) -> TableAnswer:
    """Look up a state of any machine and its successors. Raises StateError where one is not in the table."""
    machine = state.machine
    value = _known(tables, state)
    if machine.is_terminal(state):
        return TableAnswer(value, (), ())
    options = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
    moves = [
        JointValue(joint, _known(tables, machine.next_state(state, joint))) for joint in product(*options)
    ]
    choosers = tuple(role for role, some in enumerate(options) if len(some) > 1)
    return TableAnswer(value, choosers, tuple(moves))


def _known(tables: Tables, state: State) -> StateValue:
    value = tables.value(state)
    if value is None:
        raise StateError(
            f"the table in {tables.folder} has no such state",
            remedy="it has those that play can reach; write all that is true, as in (cell a 1 x) (control o)",
        )
    return value


def facts(text: str) -> list[Term]:
    """The propositions of a state written as ``(cell a 1 x) (control o)``; ``(true ...)`` around one is
    dropped. Raises ParseError."""
    terms = parse_terms(text, notation="auto") if text.strip() else []
    return [term.args[0] if term.name == "true" and len(term.args) == 1 else term for term in terms]
