"""Blobs for tests of the storage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from players.sorted_sets.store import BlobStore, BlobWriter

RULES = "(role you)"


def append_all(writer: BlobWriter, blocks: Sequence[bytes]) -> None:
    for data in blocks:
        writer.append(data)


def filled(store: BlobStore, name: str, *blocks: bytes) -> None:
    writer = store.writer(name)
    append_all(writer, blocks)
    writer.close()


def reopened(
    scratch: Path, memory: int, disk: int | None = None, rules: str = ""
) -> tuple[BlobStore, dict[str, Any]]:
    """A store that goes on from the last commit in a directory, and the state that was committed."""
    store = BlobStore(memory, scratch, disk, rules)
    return store, store.state
