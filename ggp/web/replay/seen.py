"""What a role knew in each step of a recorded match of hidden information, worked out from its rules."""

from __future__ import annotations

import time
from typing import Any

from gdl.errors import GdlError
from gdl.information import hides, playing
from gdl.machine import Machine
from ggp.boards.sight import RoleSight, SightView, new_belief, observed
from ggp.boards.svg.picture import SvgPainter
from ggp.web.replay.recorded import RecordedMatch

SECONDS = 20.0
"""CPU time for one role; later steps are left out."""


def seeing_roles(machine: Machine | None) -> list[int]:
    """The roles as which a match can be seen: those that do not see all."""
    return [] if machine is None or not hides(machine.rules) else playing(machine.roles)


def sights_of(match: RecordedMatch, machine: Machine, painter: SvgPainter, role: int) -> list[dict[str, Any]]:
    """What a role knew in each state, as :class:`ggp.boards.sight.RoleSight` shows it, from the first one
    on, as far as the record fits the rules and the time reaches. Nothing is worked out of the last state.

    Raises GdlError where the role sees all, or there is no such role.
    """
    if role not in seeing_roles(machine):
        raise GdlError(f"no role {role} of this game has anything hidden from it")
    end = time.process_time() + SECONDS
    view, belief = SightView(machine, painter.board, painter), new_belief(machine, role, 0)
    sight: RoleSight | None = None
    shown: list[dict[str, Any]] = []
    for found, joint in zip(match.states, match.moves, strict=False):
        sight = view.sight(belief, sight)
        shown.append(sight.shown)
        try:
            state = machine.state_of(found)
            made = tuple(machine.move_id(one, move) for one, move in enumerate(joint))
            if time.process_time() > end or machine.is_terminal(machine.next_state(state, made)):
                break
            belief.update(observed(state, made)[role])
        except GdlError:  # the record and the rules part ways
            break
    return shown
