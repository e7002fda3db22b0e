"""A store of files keeps within its bound, and leaves folders in its directory alone."""

from __future__ import annotations

from pathlib import Path

from propnet.storage.file_store import FileStore


def test_a_folder_inside_does_not_keep_files_from_being_stored_or_evicted(tmp_path: Path) -> None:
    (tmp_path / "aside").mkdir(parents=True)
    store = FileStore(tmp_path, 300)
    assert all(store.put(name, b"0" * 200) for name in ("first", "second"))
    assert store.get("first") is None and store.get("second") == b"0" * 200
    assert (tmp_path / "aside").is_dir()
