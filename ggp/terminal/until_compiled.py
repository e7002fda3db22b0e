"""A first match begins at once: a player without kernels plays until those of the search are compiled."""

from __future__ import annotations

from collections.abc import Callable, Collection
from time import monotonic

from gdl.machine import State
from players.player import Choice, Player
from players.registry import make_player

QUICK = "montecarlo"
"""Makes random games after each of its moves, on whatever machine there is."""
_PLAYOUTS = 200
"""Of a turn: enough not to miss a win in small games, where they take a tenth of a second."""
_NEEDS_NO_KERNELS = frozenset(("human", "random", "legal"))


def can_wait(names: Collection[str]) -> bool:
    """Whether these players can begin without kernels: some of them search by the clock, and the others need
    none. A number of playouts is asked for where a match is to be repeated."""
    searching = [name for name in names if name.partition(":")[0] not in _NEEDS_NO_KERNELS]
    return bool(searching) and all(
        name.partition(":")[0] == "uct" and "playouts" not in name for name in searching
    )


class UntilCompiled(Player):
    """Random games choose, on the match's machine, until ``is_ready``; from the next turn on the player of
    this name that ``make`` makes."""

    reports = True

    def __init__(
        self, name: str, seed: int, make: Callable[[], Player], is_ready: Callable[[], bool]
    ) -> None:
        super().__init__(seed=seed)
        self.name = name
        self._make, self._is_ready = make, is_ready
        self._quick = make_player(f"{QUICK}:playouts={_PLAYOUTS}", seed)
        self._player: Player | None = None

    def prepare(self, state: State, deadline: float) -> None:
        self._quick.start(self.machine, self.role, state, 0.0, deadline)

    def decide(self, state: State, options: list[int], deadline: float) -> Choice:
        if self._player is None and self._is_ready():
            self._player = self._begun(state, deadline)
        return (self._player or self._quick).choose(state, deadline)

    def _begun(self, state: State, deadline: float) -> Player:
        player = self._make()
        player.found_out, player.on_progress = self.found_out, self.on_progress
        half = max(0.0, deadline - monotonic()) / 2
        player.start(self.machine, self.role, state, half, monotonic() + half)
        return player

    def stop(self) -> None:
        self._quick.stop()
        if self._player is not None:
            self._player.stop()
