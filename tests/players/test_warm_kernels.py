"""Parts that are compiled side by side: each once, those that others work on last."""

from __future__ import annotations

from pathlib import Path

import pytest

from players.processes.compiled_parts import folder_of_parts, is_compiled, program_stamp
from players.warm_kernels import compile_together
from propnet.storage.process_lock import ProcessLock


def test_a_part_that_another_process_has_taken_is_left_for_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done: list[str] = []
    parts = [(name, lambda name=name: done.append(name)) for name in "abc"]
    compile_together(parts)
    assert done == ["a", "b", "c"]
    done.clear()
    folder = folder_of_parts()
    assert folder is not None and folder.is_relative_to(tmp_path)
    theirs = ProcessLock(f"{folder}/part-a.lock")
    assert theirs.take(0.0)
    compile_together(parts)
    assert done == ["b", "c", "a"]
    theirs.leave()


def test_a_note_is_of_the_program_that_was_there_when_compiling_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    version = ["before"]
    monkeypatch.setattr("players.processes.compiled_parts._processor", lambda: list(version))
    program_stamp.cache_clear()
    compile_together([("a", lambda: version.append("changed"))])
    assert is_compiled("a")
    program_stamp.cache_clear()  # another process, which sees the changed program
    assert not is_compiled("a")
    monkeypatch.undo()
    program_stamp.cache_clear()
