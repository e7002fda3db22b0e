"""Hints for pictures: what they may say, and that nothing else comes out of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.hints import BOARDS, HINT_COLOURS, LOOKS, MOST_HINTS, SIGNED, PictureHint, read_hints
from gdl.syntax.parser import parse_rules

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
