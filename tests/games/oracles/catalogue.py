"""All oracles that are a :class:`~tests.games.oracles.match.Match`, by the names of our games."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tests.games.oracles.chance import CHANCE
from tests.games.oracles.groups import GROUPS
from tests.games.oracles.match import Match
from tests.games.oracles.moving import MOVING
from tests.games.oracles.packing import PACKING
from tests.games.oracles.paper import PAPER
from tests.games.oracles.phantom import PHANTOM
from tests.games.oracles.puzzles import PUZZLES
from tests.games.oracles.several import SEVERAL

ORACLES: Final[dict[str, Callable[[], Match]]] = {
    **PUZZLES,
    **PAPER,
    **MOVING,
    **PACKING,
    **SEVERAL,
    **GROUPS,
    **CHANCE,
    **PHANTOM,
}
"""Game -> a match of it."""
