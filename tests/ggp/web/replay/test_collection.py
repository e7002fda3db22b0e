"""Files with several matches are listed; 1,000 malformed ones are each told in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from ggp.answers.catalogue import title_of
from ggp.game import Game
from ggp.processes.parent import explain
from ggp.web.replay.recorded import records_in
from ggp.web.replay.replay_process import CARRIED, NAMED, UNKNOWN, ReplayDesk
from tests.examples import examples
from tests.ggp.web.browsing import until

GOOD: dict[str, Any] = {
    "matchId": "m",
    "playerNamesFromHost": ["p", "q"],
    "startClock": 10,
    "playClock": 5,
    "isCompleted": True,
    "isAborted": False,
    "states": [
        "( ( control x ) )",
        "( ( cell a 1 x ) ( control o ) )",
        "( ( cell a 1 x ) ( cell b 2 o ) ( control x ) )",
    ],
    "moves": [["( mark a 1 )", "noop"], ["noop", "( mark b 2 )"]],
    "errors": [["", ""], ["", "TO"], ["IL huh", ""]],
    "stateTimes": [1, 2, 3],
    "goalValues": [100, 0],
}


def answer(text: str, do: str = "story", match: int = 0, **fields: int) -> dict[str, Any]:
    with NamedTemporaryFile(suffix=".json") as file:
        Path(file.name).write_bytes(text.encode("utf-8", "replace"))
        order = {"do": do, "kind": "record", "path": file.name, "match": match, **fields}
        return ReplayDesk().answer(order, lambda *_, **__: None)


def test_an_array_of_records_is_a_list_of_matches() -> None:
    text = json.dumps([{**GOOD, "game": "tictactoe", "round": 1}, {**GOOD, "matchId": ["x\n"], "errors": 3}])
    listed: Any = answer(text)
    assert [one["name"] for one in listed["matches"]] == ["m", '["x\\n"]']
    assert listed["matches"][0]["goals"] == list(map(str, GOOD["goalValues"]))
    story: Any = answer(text, match=1)
    assert (story["game"], story["rules"]) == ("tictactoe", NAMED)
    assert len(story["steps"]) == len(GOOD["states"])
    with pytest.raises(match="matchId"):
        answer(text, match=2)
    with pytest.raises(GdlError, match="no match 3"):
        answer(text, match=3)


def test_a_trace_is_a_list_of_matches() -> None:
    text = Path("games/playthroughs/tictactoe.jsonl").read_text(encoding="utf-8")
    listed = records_in(text)
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(listed) == len({line["p"] for line in lines if line["type"] == "step"})
    story: Any = answer(text, match=1)
    assert story["rules"] == NAMED
    assert story["steps"][1]["moves"] == lines[1]["joint"]
    assert answer(text, "compared", match=1)["doubts"] == {}


def test_a_card_has_the_last_position_of_a_match_and_of_the_last_of_several() -> None:
    other = {**GOOD, "states": GOOD["states"][:2], "moves": GOOD["moves"][:1], "matchId": "short"}
    text = json.dumps([{**other, "game": "tictactoe"}, {**GOOD, "game": "tictactoe"}])

    def last(number: int) -> str:
        steps = len(json.loads(text)[number - 1]["states"])
        frames: Any = answer(text, "frames", match=number, first=steps - 1, count=1)["frames"]
        return str(frames[0]["svg"])

    def squares(svg: str) -> list[str]:
        return re.findall(r"<title>([a-c] [1-3][^<]*)</title>", svg)

    cards: list[Any] = [answer(text, "card", match=number) for number in (0, 1, 2)]
    assert [card["matches"] for card in cards] == [2, 1, 1]
    assert [card["title"] for card in cards] == ["Tic-tac-toe"] * 3
    assert (cards[1]["steps"], cards[1]["name"], cards[2]["faults"]) == (1, "short", 2)
    assert len(squares(cards[1]["svg"])) == 9
    assert [squares(card["svg"]) for card in cards] == [squares(last(number)) for number in (2, 1, 2)]
    assert squares(cards[1]["svg"]) != squares(cards[2]["svg"])
    with pytest.raises(GdlError, match="no match 3"):
        answer(text, "card", match=3)


def test_rules_of_the_record_count_before_those_of_its_name() -> None:
    rules = "; Odd: a game of our own\n" + Path("games/tictactoe.kif").read_text(encoding="utf-8")
    for more, whose, title in (
        ({"game": "tictactoe", "rules": rules}, CARRIED, "Odd"),
        ({"game": "tictactoe"}, NAMED, "Tic-tac-toe"),
        ({"game": "nobody knows it"}, UNKNOWN, "nobody knows it"),
        ({"gameMetaURL": "http://x/base/games/ticTacToe/v0/"}, NAMED, "Tic-tac-toe"),
    ):
        story: Any = answer(json.dumps({**GOOD, **more}))
        card: Any = answer(json.dumps({**GOOD, **more}), "card")
        assert (story["rules"], story["title"], card["title"]) == (whose, title, title)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
GDL = st.text(alphabet="()? abx1\n;'\"<>\x00\u202e", max_size=30)


@st.composite
def malformed(draw: st.DrawFn) -> str:
    """A record that somebody has had a hand in."""
    record = json.loads(json.dumps(GOOD))
    for _ in range(draw(st.integers(1, 3))):
        key = draw(st.sampled_from(["matchId", "states", "moves", "errors", "goalValues", *record]))
        value = record.get(key)
        match draw(st.integers(0, 3)):
            case 0:
                record.pop(key, None)
            case 1 if isinstance(value, list) and value:
                value[draw(st.integers(0, len(value) - 1))] = draw(JUNK | GDL | st.lists(GDL, max_size=3))
            case 2 if isinstance(value, list) and value:
                del value[draw(st.integers(0, len(value) - 1))]
            case _:
                record[key] = draw(GDL | JUNK)
    text = json.dumps(draw(st.sampled_from([record, [record], [record, record]])))
    if draw(st.booleans()):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.text(max_size=3)) + text[at + draw(st.integers(0, 4)) :]
    return text


@pytest.mark.slow
@examples(1000)
@given(malformed())
def test_malformed_files_are_told_in_one_line(text: str) -> None:
    try:
        listed: Any = answer(text)
        many = "matches" in listed
        story: Any = answer(text, match=1) if many else listed
        answer(text, "frames", match=int(many), first=0, count=2)
        answer(text, "card", match=0)
        told = story["name"]
    except GdlError as error:
        told = explain(error, "replay")
    assert len(told.splitlines()) <= 1
    assert "Traceback" not in told


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[]", "7", '{"type": "game"}\n{}'])
def test_what_is_no_record_is_refused(text: str) -> None:
    with pytest.raises(GdlError):
        answer(text)


@pytest.mark.slow
def test_a_match_of_several_is_chosen_in_the_browser(
    web: Callable[..., str], browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "all.json").write_text(json.dumps([GOOD, {**GOOD, "game": "tictactoe"}]))
    (tmp_path / "trace.jsonl").write_bytes(Path("games/playthroughs/hex.jsonl").read_bytes())
    address = web("--records", str(tmp_path))
    browser.get(f"{address}/replay?file=all.json")
    until(browser, "document.querySelectorAll('a.card').length", 2)
    browser.find_elements("css selector", "a.card")[1].click()
    until(browser, "document.querySelectorAll('.board .gb-square').length", 9)
    assert browser.execute_script("return document.querySelector('h1').textContent") == "Tic-tac-toe"
    browser.get(f"{address}/replay?file=trace.jsonl&match=1#3")
    until(browser, "document.querySelectorAll('.board .gb-new').length > 0", True)
    assert title_of(Game.load("hex").text)[0] == browser.execute_script(
        "return document.querySelector('h1').textContent"
    )
