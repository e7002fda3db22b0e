"""Knowledge on disk: a file for each game under ``$GGP_CACHE/knowledge``, named by its fingerprint.

Games that come with the program have knowledge that comes along, in ``games/knowledge``: it is used until the
user's own training has found something better. Looking up an unknown game costs its fingerprint, some
milliseconds, and one look into each of the two folders.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

from gdl.errors import FileError, GdlError
from gdl.reading import games_folder, read_limited
from gdl.rules import Rules
from players.knowledge.canonical_rules import CanonicalNames, FingerprintError, canonical_names
from players.knowledge.knowledge import MOST_BYTES, GameKnowledge, KnowledgeError
from propnet.private_files import default_directory, is_trusted, make_directory, read
from propnet.storage.file_store import FileStore
from propnet.storage.process_lock import ProcessLock

log = logging.getLogger("players.knowledge")

_MOST_TOGETHER = 1 << 30
"""Size of the files of all games together, in bytes: beyond it the least recently used ones are
removed."""
_NAME = re.compile(r"[0-9a-f]{64}")
_SHORT = 16
"""The digits of the fingerprint in the name of a file that comes along."""
BUNDLED = games_folder() / "knowledge"
"""The folder of what comes along."""


class KnowledgeStore:
    """The files in one folder, by default that of the cache."""

    def __init__(self, directory: Path | None = None) -> None:
        """Raises KnowledgeError if no folder is given and the user has no home."""
        try:
            self.directory = default_directory() / "knowledge" if directory is None else directory
        except RuntimeError:
            raise KnowledgeError("there is no folder for knowledge", remedy="set GGP_CACHE") from None
        self._files = FileStore(self.directory, _MOST_TOGETHER)

    def get(self, fingerprint: str) -> GameKnowledge | None:
        """The knowledge of a game; None if there is none, or the file cannot be trusted."""
        if not (self.directory / fingerprint).exists():
            return None
        try:
            return self.read(fingerprint)
        except KnowledgeError as error:
            log.warning("%s is not used: %s", fingerprint, error)
            return None

    def read(self, fingerprint: str) -> GameKnowledge:
        """The saved knowledge of a game. Raises KnowledgeError, with the reason, if it cannot be used."""
        path = self.directory / fingerprint
        try:
            if not is_trusted(self.directory):
                raise KnowledgeError("others can write to the folder of this file", source=str(path))
            data = read(path, MOST_BYTES)
        except FileError as error:
            raise KnowledgeError(error.message, remedy=error.remedy) from None
        except OSError as error:
            raise KnowledgeError(f"cannot be read: {error.strerror or error}", source=str(path)) from None
        except ValueError as error:
            raise KnowledgeError(
                f"this is not knowledge of a game: {error}", remedy="remove it", source=str(path)
            ) from None
        with contextlib.suppress(OSError):  # mark it as recently used
            os.utime(path)
        knowledge = GameKnowledge.from_bytes(data, str(path))
        if knowledge.fingerprint != fingerprint:
            raise KnowledgeError("this is knowledge of another game", remedy="remove it", source=str(path))
        return knowledge

    def put(self, knowledge: GameKnowledge) -> None:
        """Save knowledge in place of the game's previous file. A writer that is killed leaves the old file.
        Raises KnowledgeError if it cannot be saved."""
        if not self._files.put(knowledge.fingerprint, knowledge.to_bytes()):
            raise KnowledgeError(
                f"knowledge cannot be kept in {self.directory}",
                remedy="make the folder writable for you alone, or set GGP_CACHE",
            )

    def remove(self, fingerprint: str) -> None:
        """Remove a game's knowledge. Raises KnowledgeError if that fails."""
        try:
            (self.directory / fingerprint).unlink(missing_ok=True)
        except OSError as error:
            raise KnowledgeError(f"cannot be removed: {error.strerror}", source=str(self.directory)) from None

    @contextlib.contextmanager
    def alone(self, fingerprint: str) -> Iterator[None]:
        """Be the only process that changes the knowledge of a game. Raises KnowledgeError if another process
        does."""
        folder = self.directory / "locks"
        with contextlib.suppress(OSError):
            make_directory(folder)
        lock = ProcessLock(str(folder / fingerprint))
        if not lock.take(0.0):
            raise KnowledgeError("another process is learning this game", remedy="wait for its end")
        try:
            yield
        finally:
            lock.leave()

    def fingerprints(self) -> Iterator[str]:
        """The fingerprints of the games that have files."""
        if self.directory.is_dir():
            yield from sorted(path.name for path in self.directory.iterdir() if _NAME.fullmatch(path.name))


def find(rules: Rules, directory: Path | None = None) -> tuple[CanonicalNames, GameKnowledge] | None:
    """The knowledge of a game, and the names by which it is saved; None if there is none. Without a
    ``directory`` it is that of the cache if searches use it, otherwise that which comes along."""
    try:
        names = canonical_names(rules)
    except FingerprintError as error:
        log.info("played without knowledge: %s", error)
        return None
    knowledge = None
    try:
        knowledge = KnowledgeStore(directory).get(names.fingerprint)
    except (KnowledgeError, OSError) as error:
        log.info("played without what was learnt before: %s", error)
    if directory is None and (knowledge is None or not knowledge.share):
        knowledge = coming_along(names.fingerprint) or knowledge
    return None if knowledge is None else (names, knowledge)


def coming_along(fingerprint: str) -> GameKnowledge | None:
    """The knowledge of a game that comes with the program; None if there is none."""
    for path in bundled_files():
        if path.name.split(".")[-2] == fingerprint[:_SHORT]:
            try:
                knowledge = read_file(path)
            except GdlError as error:
                log.warning("%s is not used: %s", path.name, error)
                continue
            if knowledge.fingerprint == fingerprint:
                return knowledge
    return None


def bundled_files() -> list[Path]:
    """The files of knowledge that come with the program, sorted by name. :func:`bundled_name` names them."""
    return sorted(BUNDLED.glob("*.*.knowledge"))


def bundled_name(knowledge: GameKnowledge) -> str:
    """The name of a game's file among those that come with the program."""
    return f"{knowledge.game}.{knowledge.fingerprint[:_SHORT]}.knowledge"


def read_file(path: Path) -> GameKnowledge:
    """The knowledge in an exported file. Raises FileError and KnowledgeError."""
    return GameKnowledge.from_bytes(read_limited(path, MOST_BYTES), str(path))
