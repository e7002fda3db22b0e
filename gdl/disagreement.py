"""Whether a machine says the same of a state as another one, which is trusted."""

from __future__ import annotations

from gdl.machine import Machine, State


def difference(machine: Machine, state: State) -> str:
    """How a machine disagrees with the state's own machine about a state; empty if it does not. Raises
    GdlError as the machines' questions do."""
    known = state.machine
    copy = machine.state_of(state.propositions)
    if machine.is_terminal(copy) != known.is_terminal(state):
        return "it does not agree whether the match is over"
    for role in range(len(known.roles)):
        ours = {known.move(role, move) for move in known.legal_moves(state, role)}
        if {machine.move(role, move) for move in machine.legal_moves(copy, role)} != ours:
            return f"it does not agree on the legal moves of {known.rules.spell(known.roles[role])}"
    return ""
