"""What is shown is printable, says where characters were; excerpts mark the place; hints of pictures."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gdl.excerpt
from gdl.errors import GdlError, Place
from gdl.excerpt import excerpt
from gdl.hints import BOARDS, HINT_COLOURS, LOOKS, MOST_HINTS, SIGNED, PictureHint, read_hints
from gdl.syntax.parser import parse_rules
from gdl.visible import first_forbidden, visible
from gdl.words import counted

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


# --- Excerpts: the caret stands below the place, whatever the line is like
BREAKS = (*range(10, 14), *range(28, 31), 0x85, 0x2028, 0x2029)


def test_the_caret_marks_the_group_or_the_word() -> None:
    text = "(role x)\n(<= (p ?x) (not (q ?x)) tail)\n"
    assert excerpt(text, Place(2, 12)) == (
        "    2 | (<= (p ?x) (not (q ?x)) tail)",
        "      |            ^^^^^^^^^^^^",
    )
    marked = excerpt(text, Place(2, 25))
    assert marked is not None
    assert marked[1].strip(" |") == "^^^^"
    open_group = excerpt("(a (b", Place(1, 4))
    assert open_group is not None
    assert open_group[1].strip(" |") == "^^"


def test_no_place_no_excerpt() -> None:
    for place in (None, Place(), Place(9, 1), Place(1, 40)):
        assert excerpt("(role x)", place) is None


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="".join(map(chr, BREAKS))), max_size=300),
    st.integers(1, 300),
    st.integers(24, 120),
)
def test_excerpts_fit_and_show_no_controls(line: str, column: int, width: int) -> None:
    shown = excerpt(line, Place(1, column), width)
    assert (shown is None) == (column > len(line) + 1 or not line)
    if shown is not None:
        assert all(part.isprintable() and part.count("\n") == 0 for part in shown)
        assert len(shown[0]) <= max(width, 28)
        assert "^" in shown[1]


@given(st.integers(1, 200), st.integers(60, 100))
def test_the_caret_is_below_its_letter_in_long_lines(at: int, width: int) -> None:
    line = "a" * (at - 1) + " X " + "b" * 200
    shown = excerpt(line, Place(1, at + 1), width)
    assert shown is not None
    assert shown[0][shown[1].index("^")] == "X"


def test_singulars() -> None:
    assert [counted(n, "step") for n in (0, 1, 2, 1000)] == ["0 steps", "1 step", "2 steps", "1,000 steps"]
    assert [counted(n, "match", "matches") for n in (1, 2)] == ["1 match", "2 matches"]


def test_only_the_part_of_a_line_that_is_shown_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0

    def count(rest: str, *, of: Callable[[str], Any]) -> Any:
        nonlocal looked
        looked += len(rest)
        return of(rest)

    for name in ("_shown", "extent"):
        monkeypatch.setattr(gdl.excerpt, name, functools.partial(count, of=getattr(gdl.excerpt, name)))
    for text in ("not " * 100_000, "(" * 400_000, "x" * 400_000):
        for column in (1, 5, 200_001, 400_000):
            assert excerpt(text, Place(1, column)) is not None
    assert looked < 12 * 1000


# --- Hints for pictures: what they may say, and that nothing else comes out of them
WORDS = st.lists(st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True), min_size=1, max_size=8).filter(
    lambda words: words != ["board"] and "as" not in words
)


@given(WORDS, st.sampled_from(sorted(LOOKS)), st.sampled_from(["", *sorted(HINT_COLOURS)]), st.booleans())
def test_what_is_written_as_it_should_is_read(words: list[str], look: str, colour: str, every: bool) -> None:
    text = f"; draw: {' '.join(words)}{' *' * every} as {look}{' in ' * bool(colour)}{colour}"
    assert read_hints(text) == ((PictureHint(tuple(words), look, colour, every),), ())


@given(
    WORDS, st.sampled_from(sorted(SIGNED)), st.from_regex("[0-9A-Za-z]{1,6}", fullmatch=True), st.booleans()
)
def test_a_sign_is_read_as_it_is_written(words: list[str], look: str, sign: str, coloured: bool) -> None:
    text = f"; draw: {' '.join(words)} as {look} {sign}{' in red' * coloured}"
    if sign.lower() in ("in", "as"):
        return  # words of hints
    assert read_hints(text) == ((PictureHint(tuple(words), look, "red" * coloured, False, sign),), ())


@given(st.text(st.sampled_from("; draw:as*inboardpawn%\n\t()?\\'\"<>&"), max_size=200))
def test_whatever_is_written_only_known_looks_come_out(text: str) -> None:
    hints, faults = read_hints(text)
    for hint in hints:
        assert hint.look in (BOARDS if hint.words == ("board",) and not hint.every else LOOKS)
        assert hint.colour in ("", *HINT_COLOURS)
        assert len(hint.sign) <= 6 and (hint.sign.isalnum() or not hint.sign)
    assert len(hints) + len(faults) <= MOST_HINTS + 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("; draw: wp pawn", "3:3: this hint has no 'as'"),
        ("; draw: wp as", "3:3: this hint does not end as it should"),
        ("; draw: wp as pawn in", "3:3: this hint does not end as it should"),
        ("; draw: as pawn", "3:3: this hint has no 'as'"),
        ("; draw: * as pawn", "3:3: this hint names no thing"),
        ("  ; draw: wp as oak", "3:5: there is no look 'oak'"),
        ("; draw: board as pawn", "3:3: there is no look of a board 'pawn'"),
        ("; draw: wp as pawn in mauve", "3:3: there is no colour 'mauve'"),
        ("; draw: wp as pawn P", "3:3: the look 'pawn' shows no sign"),
        ("; draw: board as plain 3", "3:3: the look 'plain' shows no sign"),
        ("; draw: 3 as tile 8 8", "3:3: this hint does not end as it should"),
        ("; draw: 3 as tile <b>", "3:3: '<b>' cannot be shown"),
        ("; draw: 3 as tile 1234567", "3:3: '1234567' cannot be shown"),
        ("; draw: " + "x" * 300 + " as pawn", "3:3: this hint is too long"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(line: str, message: str) -> None:
    hints, (fault,) = read_hints(f"(role r)\n\n{line}\n(init p)")
    assert not hints
    assert str(fault) == message
    assert fault.remedy


def test_prose_is_no_hint() -> None:
    assert read_hints("; draw as much as you like\n; a draw: as pawn\n(draw: wp as pawn)") == ((), ())


def test_many_hints_are_cut() -> None:
    hints, faults = read_hints("; draw: p as pawn\n" * 1000)
    assert len(hints) == MOST_HINTS
    assert [str(fault) for fault in faults] == [f"{MOST_HINTS + 1}:3: there are more than {MOST_HINTS} hints"]


@pytest.mark.parametrize(
    "text", ["(role r) (init p)\n; draw: p as peg\n", "role(r) init(p)\n% draw: p as peg\n"]
)
def test_hints_do_not_change_what_rules_mean(text: str) -> None:
    rules = parse_rules(text)
    assert rules.hints == (PictureHint(("p",), "peg"),)
    assert rules == parse_rules(text.replace("draw:", "note:"))
