"""What commands print can be seen, in every locale."""

from __future__ import annotations

import io
import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.printing import prepare_streams, show
from tests.gdl.test_visible import texts


def printed(text: str | bytes, encoding: str = "utf-8") -> str:
    """What is printed to a stream of this encoding, as its bytes say."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        prepare_streams()
        show(text, head="ggp:", end="")
        stream.flush()
        return stream.buffer.getvalue().decode("utf-8" if isinstance(text, bytes) else encoding)  # type: ignore[attr-defined]


@given(texts, st.sampled_from(["utf-8", "ascii", "latin-1", "shift-jis"]))
def test_all_can_be_seen_and_written(text: str, encoding: str) -> None:
    shown = printed(text, encoding)
    assert shown.replace("\n", "").replace("\t", "").isprintable()
    assert encoding != "ascii" or shown.isascii()


@given(st.text(), st.sampled_from(["utf-8", "ascii"]))
def test_json_stays_the_same_json(text: str, encoding: str) -> None:
    line = json.dumps(text, ensure_ascii=False)
    assert json.loads(printed(line, encoding).removeprefix("ggp:")) == text


def test_documents_are_utf_8_in_every_locale() -> None:
    assert printed("naïve".encode(), "ascii") == "naïve"
    assert printed("naïve", "ascii") == "ggp:na\\u00efve"
