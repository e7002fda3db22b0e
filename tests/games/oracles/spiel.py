"""OpenSpiel's rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from tests.games.oracles.match import InTurn, Turn

pyspiel: Any = pytest.importorskip("pyspiel", reason="open_spiel is not installed")


class Spiel(InTurn):
    """A game of OpenSpiel.

    Args:
        game: its name and parameters there.
        roles: ours.
        say: their action as text -> our moves.
        see: a state -> our facts.
        relations: those of the facts.
    """

    source = "OpenSpiel"

    def __init__(
        self,
        game: str,
        roles: tuple[str, str],
        say: Callable[[str], tuple[str, ...]],
        see: Callable[[Any], set[str]] = lambda state: set(),
        relations: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__()
        self.roles, self._say, self._see, self.relations = roles, say, see, relations
        self.state = pyspiel.load_game(game).new_initial_state()
        self._turns: Turn | None = None

    def turn(self) -> str:
        return self.roles[self.state.current_player()]

    def turns(self) -> Turn:
        if self._turns is None:
            self._turns = {} if self.state.is_terminal() else self._all_turns()
        return self._turns

    def _all_turns(self) -> Turn:
        return {self._say(self.state.action_to_string(a)): a for a in self.state.legal_actions()}

    def go(self, turn: Hashable) -> None:
        self.state.apply_action(turn)
        self._turns = None

    def facts(self) -> set[str]:
        return self._see(self.state)

    def result(self) -> dict[str, int] | None:
        if not self.state.is_terminal():
            return None
        returns = self.state.returns()
        return {role: round(50 + 50 * value) for role, value in zip(self.roles, returns, strict=True)}
