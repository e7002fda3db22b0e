"""The kind of a game, for the log and the status page, and its name.

When there is a network, a process of its own classifies the game by :mod:`propnet.analysis.classify`. Bundled
games are recognised by their rules, whatever their words.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Final

from gdl.errors import GdlError
from gdl.rules import Rules
from gdl.words import counted
from players.kaskade.builder import Builder, BuildJob
from players.processes.limits import describe

if TYPE_CHECKING:
    from propnet.analysis.classify import Classification
    from propnet.network import Network


WORK: Final = BuildJob(
    "propnet.analysis.classify:build_classification", seconds=120.0, cpu_seconds=30.0, memory=2 * 1024**3
)
"""The build job that classifies a game."""


class Classifier:
    """Classifies one game in a process of its own.

    Args:
        network: the game's network.
        classified: called with the result, in a thread of its own.
        failed: called with the reason if there is no result, unless it was stopped.
    """

    def __init__(
        self, network: Network, classified: Callable[[Classification], None], failed: Callable[[str], None]
    ) -> None:
        self._network, self._classified, self._failed = network, classified, failed
        self._builder: Builder | None = None
        self._stopped = False
        self._starting = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="classifier")
        self._thread.start()

    def stop(self) -> None:
        """End the process."""
        with self._starting:
            self._stopped = True
            if self._builder is not None:
                self._builder.kill()

    def join(self, seconds: float) -> None:
        """Wait for the end of the process, at most ``seconds``."""
        self._thread.join(seconds)

    def _run(self) -> None:
        from propnet.analysis.classify import Classification
        from propnet.storage.network_bytes import to_bytes

        try:
            with self._starting:
                if self._stopped:
                    return
                builder = self._builder = Builder(WORK)
            for data in builder.build("", to_bytes(self._network)):
                if not self._stopped:
                    self._classified(Classification.from_bytes(data))
        except (GdlError, OSError) as error:
            if not self._stopped:
                self._failed(describe(error))


def name_of(rules: Rules) -> str:
    """The name of the bundled game with these rules, in any order and with any words; otherwise ``unnamed, N
    rules``."""
    from players.knowledge.canonical_rules import canonical_names

    unnamed = f"unnamed, {counted(len(rules), 'rule')}"
    candidates = by_length().get(len(rules), ())
    try:
        fingerprint = canonical_names(rules).fingerprint if candidates else ""
    except GdlError:  # too long or too symmetric to be distinguished from others
        return unnamed
    return next((name for name in candidates if _fingerprint(name) == fingerprint), unnamed)


@cache
def by_length() -> dict[int, tuple[str, ...]]:
    """Number of rules -> the bundled games of that number. The first call takes a while."""
    from ggp.protocol.messages import split
    from ggp.rule_files import installed_games, read_rules_file

    found: dict[int, tuple[str, ...]] = {}
    for path in installed_games():
        with suppress(GdlError):
            number = len(split(read_rules_file(path)))
            found[number] = (*found.get(number, ()), path.stem)
    return found


@cache
def _fingerprint(name: str) -> str:
    from ggp.game import Game
    from players.knowledge.canonical_rules import canonical_names

    try:
        return canonical_names(Game.load(name).rules).fingerprint
    except GdlError:  # a file that is not a game
        return ""
