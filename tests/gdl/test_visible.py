"""What is shown is printable, says where the characters were, and leaves the rest alone."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError, Place
from gdl.visible import first_forbidden, visible

texts = st.text(
    st.characters(codec=None) | st.sampled_from("\x1b\x9b\u202e\u2066\u200b\udcff\ufffd"), max_size=20
)


@given(texts)
def test_what_is_visible_is_printable_and_can_be_written(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert shown.encode("utf-8").decode("utf-8") == shown
    assert visible(shown) == shown
    written = json.dumps(text, ensure_ascii=False)
    assert json.loads(visible(written)) == json.loads(written)


@given(texts)
def test_what_is_kept_stays(text: str) -> None:
    assert visible(f"{text}\n", keep="\n").count("\n") == text.count("\n") + 1


@given(texts)
def test_the_first_forbidden_character_is_the_first(text: str) -> None:
    at = first_forbidden(text)
    if at < 0:
        assert visible(text) == text
    else:
        assert visible(text[:at]) == text[:at]
        assert not text[at].isprintable() or text[at] == "\ufffd"


@given(texts, texts, texts)
def test_errors_are_one_readable_line_whatever_they_tell_of(message: str, remedy: str, source: str) -> None:
    assert str(GdlError(message, Place(1, 2), remedy, source)).isprintable()
