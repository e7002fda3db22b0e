"""`Replay`: a recorded match, drawn state by state, and compared with its rules."""

from __future__ import annotations

import time
from typing import Any

from gdl.errors import GdlError
from gdl.machine import Machine
from gdl.syntax.parser import parse_rules
from ggp.boards.board import board_of, find_board
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.manager import in_words
from ggp.web.replay.recorded import RecordedMatch

CHECK_SECONDS = 5.0
"""How long a match is compared with its rules at most."""
_NO_RULES = "(role unknown)"


class Replay:
    """A match with its drawings.

    Args:
        match: the match.
        game: its rules; None where nobody has them: the board is then found in the states alone.
    """

    def __init__(self, match: RecordedMatch, game: Game | None) -> None:
        self.match = match
        self.game = game
        self._machine: Machine | None = None
        if game is None:
            rules = parse_rules(_NO_RULES)
            states = list(match.states)
            board = board_of(rules, (), states, set().union(*states))
            self._painter = SvgPainter(board, rules, (), match.game)
        else:
            self._machine = game.machine("prover")
            self._painter = SvgPainter(find_board(self._machine), game.rules, self._machine.roles, game.name)

    def story(self) -> dict[str, Any]:
        """What there is beside the drawings: names, results, and for each step its moves and faults."""
        match, machine = self.match, self._machine
        width = max([len(match.players), *(len(joint) for joint in match.moves), *map(len, match.errors)])
        roles = [f"role {i + 1}" for i in range(width)]
        if machine is not None:
            roles = [machine.rules.spell(role) for role in machine.roles]
        steps = []
        for number in range(len(match.states)):
            joint = match.moves[number - 1] if 0 < number <= len(match.moves) else ()
            errors = match.errors[number] if number < len(match.errors) else ()
            faults = [{"role": role, "text": in_words(error)} for role, error in enumerate(errors) if error]
            seconds = None
            if 0 < number < len(match.times):
                seconds = round((match.times[number] - match.times[number - 1]) / 1000, 2)
            moves = [self._painter.rules.spell(move) for move in joint]
            steps.append({"moves": moves, "faults": faults, "seconds": seconds})
        return {
            "name": match.name,
            "game": self.game.name if self.game is not None else match.game,
            "known": machine is not None,
            "roles": roles,
            "players": match.players,
            "clocks": [match.startclock, match.playclock],
            "goals": match.goals,
            "aborted": match.aborted,
            "steps": steps,
        }

    def draw(self, number: int, alone: bool = False) -> str:
        """The drawing of a state; what has changed since the one before is marked."""
        states = self.match.states
        return self._painter.draw(states[number], states[number - 1] if number else None, alone=alone)

    def doubts(self) -> dict[int, str]:
        """Step -> where the record and the rules part ways: a move that is not legal, another state, an end
        that is none. Empty without rules."""
        match, machine = self.match, self._machine
        doubts: dict[int, str] = {}
        if machine is None:
            return doubts
        end = time.process_time() + CHECK_SECONDS
        if machine.initial_state().propositions != match.states[0]:
            doubts[0] = "the rules begin with another state"
        for number, found in enumerate(match.states):
            if time.process_time() > end:
                break
            try:
                state = machine.state_of(found)
                if number < len(match.moves):
                    after = state.play(*match.moves[number])
                    if number + 1 < len(match.states) and after.propositions != match.states[number + 1]:
                        doubts[number + 1] = "by the rules another state follows"
                elif match.goals and not machine.is_terminal(state):
                    doubts[number] = "by the rules the match goes on here"
            except GdlError as error:
                doubts[min(number + 1, len(match.states) - 1)] = error.message
        return doubts
