"""Games for OpenSpiel's algorithms, `load_gdl`, and the text of their states, `board_text`."""

from __future__ import annotations

from pathlib import Path
from weakref import WeakKeyDictionary

from gdl.errors import TooLargeError, whole_number
from gdl.information import hides
from gdl.machine import Machine, State
from ggp.boards.board import find_board
from ggp.boards.text import Painter
from ggp.game import Game
from players.belief.lane_worlds import longest_by_layers
from players.openspiel.spiel_game import SpielGame, spiel_game
from propnet.analysis.longest import longest_match
from propnet.capabilities import lane_machine

_painters: WeakKeyDictionary[Machine, Painter] = WeakKeyDictionary()


def load_gdl(
    source: str | Path | Game,
    *,
    dynamics: str = "auto",
    utility: str = "auto",
    max_steps: int = 10_000,
    machine: str = "auto",
) -> SpielGame:
    """A game of OpenSpiel, registered as ``gdl_NAME`` in this process: ``pyspiel.load_game`` and
    ``pyspiel.deserialize_game_and_state`` know it from then on.

    Its ``max_game_length`` is the bound that :func:`propnet.analysis.longest.longest_match` proves, or
    ``max_steps`` if no smaller bound is proven. For small games of hidden information this looks at all
    states.

    Args:
        source: as for :meth:`ggp.game.Game.load`, or a game.
        dynamics: ``sequential``, ``simultaneous``, or by default the kind that random play shows.
        utility: ``zero-sum`` (returns from -1 to 1), ``general-sum`` (0 to 1), or by default the kind that
            random play shows.
        max_steps: joint moves after which a match is over, with returns of 0.
        machine: ``propnet``, ``native`` or ``auto``.

    Raises:
        GdlError: there is no such game, or it is not of the requested kind.
        TooLargeError: the game does not ground within the limits.
    """
    max_steps = whole_number(max_steps, "max_steps", 1, 2**31 - 1)
    game = source if isinstance(source, Game) else Game.load(source)
    fast = lane_machine(game.machine(machine))
    if fast is None:
        raise TooLargeError(
            f"{game.name} does not ground within the limits, so its actions have no ids",
            remedy="OpenSpiel needs a game that `ggp ground` can ground",
        )
    longest = longest_match(fast.network)
    if longest is None and hides(fast.rules):
        longest = longest_by_layers(fast)
    if longest is not None:
        max_steps = min(max_steps, max(1, longest))
    return spiel_game(
        game.name, fast, dynamics=dynamics, utility=utility, max_steps=max_steps, draw=board_text
    )


def board_text(state: State) -> str:
    """A state's board, and below it the propositions that are not on a board: the same in every process."""
    machine = state.machine
    if machine not in _painters:
        _painters[machine] = Painter(find_board(machine), machine.rules, machine.roles)
    drawn = _painters[machine].draw_state(state)
    return "\n".join(filter(None, [drawn.plain(), *drawn.beside]))
