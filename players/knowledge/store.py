"""Knowledge on disk: a file for each game under ``$GGP_CACHE/knowledge``, named by its fingerprint.

Searches use the files of this folder. What was learnt of a game on other rungs of the ladder lies in a folder
for each rung.

Looking up an unknown game costs its fingerprint and one look into a folder. Where nothing was learnt yet it
does not even cost the fingerprint.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

from gdl.errors import FileError
from gdl.reading import read_limited
from gdl.rules import Rules
from players.knowledge.canonical_rules import CanonicalNames, FingerprintError, canonical_names
from players.knowledge.knowledge import MOST_BYTES, GameKnowledge, KnowledgeError
from propnet.private_files import default_directory, is_trusted, make_directory, read
from propnet.storage.file_store import FileStore
from propnet.storage.process_lock import ProcessLock

log = logging.getLogger("players.knowledge")

RUNGS = "linear", "derived", "tuples", "net"
"""The rungs of the ladder (:attr:`players.knowledge.knowledge.GameKnowledge.model`), the lowest first."""
_MOST_TOGETHER = 1 << 30
"""Size of the files of all games on one rung, in bytes: beyond it those that were not used for longest go."""
_NAME = re.compile(r"[0-9a-f]{64}")


class KnowledgeStore:
    """The files in one folder, by default that of the cache."""

    def __init__(self, directory: Path | None = None) -> None:
        """Raises KnowledgeError where no folder is given and the user has no home."""
        try:
            self.directory = default_directory() / "knowledge" if directory is None else directory
        except RuntimeError:
            raise KnowledgeError("there is no folder for knowledge", remedy="set GGP_CACHE") from None
        self._files = FileStore(self.directory, _MOST_TOGETHER)

    def get(self, fingerprint: str) -> GameKnowledge | None:
        """What is known of a game; None if nothing is, or the file cannot be trusted."""
        if not (self.directory / fingerprint).exists():
            return None
        try:
            return self.read(fingerprint)
        except KnowledgeError as error:
            log.warning("%s is not used: %s", fingerprint, error)
            return None

    def read(self, fingerprint: str) -> GameKnowledge:
        """What is kept of a game. Raises KnowledgeError, with the reason, where that is nothing that can be
        used."""
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
                f"this is no knowledge of a game: {error}", remedy="remove it", source=str(path)
            ) from None
        with contextlib.suppress(OSError):  # it counts as used
            os.utime(path)
        known = GameKnowledge.from_bytes(data, str(path))
        if known.fingerprint != fingerprint:
            raise KnowledgeError("this is knowledge of another game", remedy="remove it", source=str(path))
        return known

    def put(self, knowledge: GameKnowledge) -> None:
        """Keep it in place of what was known of the game. A writer that is killed leaves the old file. Raises
        KnowledgeError where that is not possible."""
        if not self._files.put(knowledge.fingerprint, knowledge.to_bytes()):
            raise KnowledgeError(
                f"knowledge cannot be kept in {self.directory}",
                remedy="make the folder writable for you and for nobody else, or set GGP_CACHE",
            )

    def rung(self, model: str) -> KnowledgeStore:
        """The store of what was learnt on a rung, and is not used."""
        return KnowledgeStore(self.directory / model)

    def use(self, knowledge: GameKnowledge) -> None:
        """Keep it as what searches use. What they used before, of another rung, stays on that one."""
        before = self.get(knowledge.fingerprint)
        if before is not None and before.model != knowledge.model:
            self.rung(before.model).put(before)
        self.put(knowledge)

    def rungs(self, fingerprint: str) -> list[GameKnowledge]:
        """All that is kept of a game, what searches use first, a rung once."""
        found: dict[str, GameKnowledge] = {}
        for store in (self, *map(self.rung, RUNGS)):
            known = store.get(fingerprint)
            if known is not None:
                found.setdefault(known.model, known)
        return list(found.values())

    def remove(self, fingerprint: str) -> None:
        """Forget a game, on all rungs. Raises KnowledgeError where that is not possible."""
        for folder in (self.directory, *(self.directory / model for model in RUNGS)):
            try:
                (folder / fingerprint).unlink(missing_ok=True)
            except OSError as error:
                raise KnowledgeError(f"cannot be removed: {error.strerror}", source=str(folder)) from None

    @contextlib.contextmanager
    def alone(self, fingerprint: str) -> Iterator[None]:
        """Be the only process that changes what is known of a game. Raises KnowledgeError where another one
        is at it."""
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
        """The games of which there are files, by fingerprint."""
        if self.directory.is_dir():
            yield from sorted(path.name for path in self.directory.iterdir() if _NAME.fullmatch(path.name))

    def all_fingerprints(self) -> list[str]:
        """The same, those among them of which something lies on a rung only."""
        found = set(self.fingerprints())
        return sorted(found.union(*(self.rung(model).fingerprints() for model in RUNGS)))

    @property
    def empty(self) -> bool:
        """Whether nothing is known of any game."""
        return next(self.fingerprints(), None) is None


def find(rules: Rules, directory: Path | None = None) -> tuple[CanonicalNames, GameKnowledge] | None:
    """What is known of a game, and the names by which it is kept; None if nothing is."""
    try:
        store = KnowledgeStore(directory)
        if store.empty:
            return None
        names = canonical_names(rules)
        known = store.get(names.fingerprint)
    except (FingerprintError, KnowledgeError, OSError) as error:
        log.info("played without knowledge: %s", error)
        return None
    return None if known is None else (names, known)


def read_file(path: Path) -> GameKnowledge:
    """The knowledge in a file that was exported. Raises FileError and KnowledgeError."""
    return GameKnowledge.from_bytes(read_limited(path, MOST_BYTES), str(path))
