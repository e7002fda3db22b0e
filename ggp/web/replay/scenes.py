"""The steps of a match as drawings: the rules are found, what the record says is compared with them."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

from gdl.errors import GdlError
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_rules, parse_term, parse_terms
from gdl.terms import Term
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game, installed_games
from ggp.web.replay.match_log import LoggedStep, MatchLog

CHECK_SECONDS = 4.0
"""How long a record is compared with the rules; the steps after that are shown as they are told."""


class Scenes:
    """Draws the steps of one match.

    Args:
        rules: of the game; where they are missing, those of an installed game of that name are taken, and
            where there is none, facts are listed by relation.
        game: an installed game's name that goes before the one in the record.

    Raises:
        GdlError: there are no states and no rules to compute them with, or a state is not GDL.
    """

    def __init__(self, log: MatchLog, rules: str = "", game: str = "") -> None:
        self.log = log
        self.note = ""
        """What is wrong with the record, or missing; empty if nothing is."""
        self.game = game or log.game
        self._source = rules
        self._machine = self._find()
        self._states = self._told()
        if self._machine is None:
            unknown = parse_rules("(role nobody)", "record")
            self.roles = [f"role {n}" for n in range(1, self._width() + 1)]
            self._painter = SvgPainter(None, unknown, (), log.id)
        else:
            self.roles = list(map(self._machine.rules.spell, self._machine.roles))
            self._painter = _machine_of(self._source, self.game)[1]

    @lru_cache(maxsize=64)  # noqa: B019  (there is one in each process)
    def draw(self, number: int) -> str:
        """The drawing of a step, from 0; what has changed is marked. Raises GdlError: there is no such."""
        if not 0 <= number < len(self._states):
            raise GdlError(f"the match has no step {number}")
        before = self._states[number - 1] if number else None
        return self._painter.draw(self._states[number], before)

    def about(self) -> dict[str, Any]:
        """What the page shows beside the drawings."""
        log = self.log
        return {
            "id": log.id,
            "game": self.game,
            "known": self._machine is not None,
            "note": self.note,
            "roles": self.roles,
            "players": log.players,
            "clocks": log.clocks,
            "outcome": log.outcome,
            "goals": log.goals,
            "steps": [
                {
                    "moves": [move.replace("( ", "(").replace(" )", ")") for move in step.moves],
                    "errors": list(map(spoken, step.errors)),
                    "time": step.time,
                }
                for step in log.steps
            ],
        }

    def _width(self) -> int:
        rows = [step.moves for step in self.log.steps if step.moves]
        return len(rows[0]) if rows else len(self.log.players)

    def _find(self) -> Machine | None:
        """The machine of the rules; None where they cannot be found or are not the record's."""
        name = self.game.lower()
        try:
            if not self._source and name not in {path.stem for path in installed_games()}:
                self.note = f"the rules of {self.game} are not known" if name else "its game is not known"
                return None
            machine, _ = _machine_of(self._source, self.game)
        except GdlError as error:
            self.note = f"its rules cannot be used: {error}"
            return None
        width = self._width()
        if width and width != len(machine.roles):
            self.note = f"these are not the rules of {self.game} that are known: the record has {width} roles"
            return None
        return machine

    def _told(self) -> list[frozenset[Term]]:
        """The propositions of each step, from the record, or where it has none from the rules."""
        machine, steps = self._machine, self.log.steps
        told = [None if step.state is None else _propositions(step.state, n) for n, step in enumerate(steps)]
        if machine is None:
            if None in told:
                raise GdlError(
                    f"the record has no states, and {self.note}", remedy="choose the game it is of"
                )
            return [state for state in told if state is not None]
        return self._follow(machine, told)

    def _follow(self, machine: Machine, told: list[frozenset[Term] | None]) -> list[frozenset[Term]]:
        end = time.monotonic() + CHECK_SECONDS
        found: list[frozenset[Term]] = []
        state: State | None = machine.initial_state()
        for number, (step, said) in enumerate(zip(self.log.steps, told, strict=True)):
            if number and state is not None:
                state = _after(machine, state, step)
            if said is None:
                if state is None:
                    raise GdlError(f"step {number} cannot be reached by the moves of the record")
                found.append(state.propositions)
                continue
            if state is not None and (state.propositions != said) and not self.note:
                self.note = f"from step {number} on the record does not follow the rules that are known"
                state = None
            elif state is None and number and not self.note:
                self.note = f"the moves that lead to step {number} are not legal by the rules that are known"
            if time.monotonic() > end:
                state = None
                self.note = self.note or f"only its first {number} steps were compared with the rules"
            found.append(said)
        return found


@lru_cache(maxsize=4)
def _machine_of(rules: str, game: str) -> tuple[Machine, SvgPainter]:
    """The machine and the painter of a game's rules, or of an installed game. Raises GdlError."""
    loaded = Game(game or "game", rules) if rules else Game.load(game.lower())
    machine = loaded.machine("prover")
    return machine, SvgPainter.of_machine(machine, game)


def spoken(error: str) -> str:
    """An error of a record in words."""
    from ggp.manager import in_words

    return in_words(error)


def _propositions(text: str, number: int) -> frozenset[Term]:
    try:
        terms = parse_terms(text, f"state {number}")
    except RecursionError:
        raise GdlError(f"state {number} is nested too deeply") from None
    return frozenset(term.args[0] if term.signature == ("true", 1) else term for term in terms)


def _after(machine: Machine, state: State, step: LoggedStep) -> State | None:
    """The next state; None where the moves cannot be made."""
    if machine.is_terminal(state) or len(step.moves) != len(machine.roles):
        return None
    joint: list[int] = []
    for role, text in enumerate(step.moves):
        try:
            move = machine.move_id(role, parse_term(text, "move"))
        except GdlError:
            return None
        if move not in machine.legal_moves(state, role):
            return None
        joint.append(move)
    return machine.next_state(state, joint)
