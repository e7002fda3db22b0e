"""What is known of rules is kept by their text, and there is no end of texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.server import known
from ggp.server.known import Remembered


@given(st.lists(st.tuples(st.text(max_size=3), st.integers())))
def test_the_last_that_was_noted_is_known(notes: list[tuple[str, int]]) -> None:
    memory: Remembered[int] = Remembered()
    for text, fact in notes:
        memory.note(text, fact)
    for text, fact in dict(notes).items():
        assert memory.recall(text, fact + 1) == fact


def test_only_the_latest_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "MOST", 3)
    memory: Remembered[int] = Remembered()
    for number in (0, 1, 2, 0, 3):
        memory.note(str(number), number)
    assert [memory.recall(str(number), -1) for number in range(5)] == [0, -1, 2, 3, -1]
