"""Blobs for tests of the storage."""

from __future__ import annotations

from collections.abc import Sequence

from players.puzzles.frontier.storage.blob import BlobWriter
from players.puzzles.frontier.storage.store import BlobStore

RULES = "(role you)"


def append_all(writer: BlobWriter, blocks: Sequence[bytes]) -> None:
    for data in blocks:
        writer.append(data)


def filled(store: BlobStore, name: str, *blocks: bytes) -> None:
    writer = store.writer(name)
    append_all(writer, blocks)
    writer.close()
