"""Rules are checked and worked on in a process of the page's own; hostile ones hurt nothing."""

from __future__ import annotations

import asyncio
import random
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.syntax.parser import parse_rules
from ggp.answers.answer_process import MOST_FINDINGS, check
from ggp.game import Game
from ggp.rule_files import installed_games
from ggp.web.rules import WORKERS
from ggp.web.rules_process import JOBS, MOST_BOXES, shown
from tests.examples import examples
from tests.ggp.web.pages import Client, token_of
from tests.places import GAME_FILES

INFIX = "role(you)\ninit(p)\nlegal(you,go)\nnext(q) :- true(p)\nterminal :- true(q)\ngoal(you,100)\n"


class RulesPage:
    """One page of the room."""

    def __init__(self, client: Client) -> None:
        self.client, self.headers = client, token_of(client)

    async def ask(self, job: str, text: object, **fields: object) -> tuple[int, dict[str, Any]]:
        reply = await self.client.post(f"/rules/{job}", json={"text": text, **fields}, headers=self.headers)
        told: dict[str, Any] = await reply.json()
        return reply.status, told


@pytest.fixture
def page(client: Client) -> RulesPage:
    return RulesPage(client)


def test_findings_stand_at_their_places_in_either_notation() -> None:
    kif = check("(role you)\n(<= (legal you ?move) (true p))")["findings"]
    assert isinstance(kif, list)
    unsafe = next(one for one in kif if one["code"].startswith("unsafe"))
    assert (unsafe["line"], unsafe["column"], unsafe["severity"]) == (2, 1, "warning")
    infix = check("role(you)\nlegal(you,M :- true(p)")
    assert infix["notation"] == "infix"
    first = infix["findings"][0]  # type: ignore[index]
    assert (first["line"], first["column"]) == (2, 13)
    assert "expected ',' or ')'" in first["message"]


async def test_a_page_has_its_rules_checked_rewritten_scrambled_counted_and_drawn(page: RulesPage) -> None:
    text = Game.load("tictactoe").text
    status, told = await page.ask("check", text)
    assert (status, told["notation"], set(told["counts"])) == (200, "prefix", {"info"})
    _, infix = await page.ask("rewrite", text, to="infix")
    assert parse_rules(infix["text"]).rules == parse_rules(text).rules
    _, prolog = await page.ask("rewrite", infix["text"], to="prolog")
    assert (await page.ask("check", prolog["text"]))[1]["notation"] == "prolog"
    _, same = await page.ask("rewrite", prolog["text"])
    assert same["text"] == prolog["text"]
    status, refused = await page.ask("rewrite", text, to="lisp")
    assert (status, "there is no notation 'lisp'" in str(refused)) == (400, True)
    _, back = await page.ask("rewrite", prolog["text"], to="prefix")
    assert parse_rules(back["text"]).rules == parse_rules(text).rules
    _, scrambled = await page.ask("scramble", infix["text"], seed=7)
    assert scrambled["text"] != infix["text"]
    assert len(parse_rules(scrambled["text"]).rules) == len(parse_rules(text).rules)
    _, counts = await page.ask("count", text)
    assert ["base propositions", 20] in [row[:2] for row in counts["rows"]]
    _, whole = await page.ask("draw", text)
    assert ET.fromstring(whole["svg"]).tag.endswith("svg")
    _, cone = await page.ask("draw", text, of="terminal")
    assert 0 < len(cone["svg"]) < len(whole["svg"])
    assert "(legal x noop)" in cone["outputs"]
    _, missing = await page.ask("draw", text, of="(legal x nothing)")
    assert "no output" in missing["why"]
    assert not missing["svg"]


async def test_playing_finds_what_the_text_does_not_show(page: RulesPage) -> None:
    stuck = (
        "(role a) (init p) (<= (legal a go) (true p)) (<= (next q) (does a go))"
        " (goal a 100) (<= terminal (true r))"
    )
    _, told = await page.ask("rehearse", stuck)
    found = {one["code"]: one for one in told["findings"]}
    assert found["stuck-role"]["moves"] == [["go"]]
    _, broken = await page.ask("rehearse", "(role")
    assert broken["findings"][0]["code"] == "unclosed-parenthesis"


def test_a_network_too_large_to_be_read_is_counted_instead() -> None:
    told = JOBS["draw"](Game.load("amazons").text)
    assert not told["svg"]
    assert "more than anyone can read" in str(told["why"])
    assert told["rows"]
    assert MOST_BOXES < 10_000


async def test_games_that_come_along_are_there_by_name_and_nothing_else_is(page: RulesPage) -> None:
    names = [path.stem for path in installed_games()]
    reply = await page.client.get(f"/rules/games/{names[0]}")
    assert (await reply.json())["text"] == Game.load(names[0]).text
    assert "11x11 hexagons" in (await (await page.client.get("/rules/games/hex:11")).json())["text"]
    reply = await page.client.get("/rules/games/hex:99")
    assert (reply.status, "from 3 to 19" in await reply.text()) == (400, True)
    for name in ("nosuchgame", "nosuchgame:4", "..%2f..%2fpyproject.toml", "%2fetc%2fpasswd"):
        assert (await page.client.get(f"/rules/games/{name}")).status == 404
    assert 'data-module="rules.js"' in await (await page.client.get("/rules")).text()


MANY = " ".join(f"(p{i} ?x{i})" for i in range(3000))
FACTS = " ".join(f"(n {i})" for i in range(200))
ROOM = "(init (at ?a ?b ?c ?d)) (n ?a) (n ?b) (n ?c) (n ?d)"
GROUNDS_FOR_EVER = f"(role you) {FACTS} (<= {ROOM}) (legal you go) terminal (goal you 0)"
GROWS_FOR_EVER = (
    "(role you) (init (n z)) (legal you go) (<= (next (n (s ?x))) (true (n ?x)))"
    " (goal you 0) (<= terminal (true q))"
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("job", "text", "fields", "status"),
    [
        ("check", "(" * 500_000, {}, 200),
        ("check", "~" * 1_000_000, {}, 200),
        ("check", "((((\x00\ufeff ) :-", {}, 200),
        ("check", "((((\ud800 ) :-", {}, 400),
        ("check", MANY, {}, 200),
        ("check", "x" * 1_000_001, {}, 400),
        ("check", ["(role x)"], {}, 400),
        ("rewrite", "(role", {"to": "infix"}, 400),
        ("rewrite", "(role x)", {"to": 7}, 400),
        ("scramble", "(role x)", {"seed": "1"}, 400),
        ("draw", "(role x)", {"of": "((("}, 400),
        ("draw", "", {}, 400),
        ("nosuchjob", "(role x)", {}, 404),
    ],
)
async def test_what_cannot_be_worked_on_is_told(
    page: RulesPage, job: str, text: object, fields: dict[str, object], status: int
) -> None:
    got, told = await page.ask(job, text, **fields)
    assert got == status, told
    if status == 200:
        assert 0 < len(told["findings"]) <= MOST_FINDINGS
    else:
        assert "\n" not in told["error"]
        assert "Traceback" not in told["error"]
    assert (await page.ask("check", INFIX))[1]["counts"].get("error") is None


@pytest.mark.parametrize("text", [GROUNDS_FOR_EVER, GROWS_FOR_EVER])
def test_rules_without_bounds_are_given_up_within_limits(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ggp.web.rules_process.GROUND_SECONDS", 0.5)
    for job in ("count", "draw"):
        with pytest.raises((GdlError, MemoryError)):
            JOBS[job](text)


async def test_the_next_check_of_a_page_ends_the_one_before_and_a_dead_process_is_replaced(
    page: RulesPage,
) -> None:
    first = asyncio.create_task(page.ask("rehearse", GROUNDS_FOR_EVER))
    while not (page.client.app and page.client.app[WORKERS]._processes):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    status, told = await page.ask("check", INFIX)
    assert status == 200
    assert told["notation"] == "infix"
    status, told = await first
    assert status == 400
    assert "cancelled in favour" in told["error"]
    [process] = page.client.app[WORKERS]._processes.values()
    assert process._child is not None
    process._child.kill()
    await process._child.ended()
    assert (await page.ask("check", INFIX))[0] == 200


TEXTS = [path.read_text() for path in installed_games() if path.stat().st_size < 6000]


@examples(50)
@given(
    st.sampled_from(TEXTS), st.randoms(use_true_random=False), st.sampled_from(["prefix", "infix", "prolog"])
)
def test_broken_rules_are_told_and_raise_nothing(text: str, rng: random.Random, notation: str) -> None:
    text = str(JOBS["rewrite"](text, notation)["text"])
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text))
        text = (
            text[:at]
            + rng.choice("() ?:-&|~.,'%;\\\n\x00x1") * rng.randint(0, 3)
            + text[at + rng.randint(0, 3) :]
        )
    told = check(text)
    lines = text.split("\n")
    for one in told["findings"]:  # type: ignore[attr-defined]
        assert 0 <= one["line"] <= len(lines) + 1
        assert "\n" not in one["message"]


def test_the_first_state_and_one_random_match_are_drawn() -> None:
    """The match is one by the rules: its moves are legal in words, and its end says what it is worth."""
    text = (GAME_FILES["tictactoe"]).read_text()
    first = shown(text, 0, 0)["frames"]
    assert isinstance(first, list)
    assert len(first) == 1
    whole = shown(text, 3, 60)["frames"]
    assert isinstance(whole, list)
    assert whole[0] == {**first[0]}
    assert 6 <= len(whole) <= 10
    assert [sum(word is not None for word in frame["moves"]) for frame in whole[1:]] == [1] * (len(whole) - 1)
    assert whole[-1]["end"] in ("x 100, o 0", "x 0, o 100", "x 50, o 50")
    assert len({frame["svg"] for frame in whole}) == len(whole)
    stuck = (
        "(role a) (init (on 1)) (<= (legal a go) (true (on 1))) (<= (next (on 2)) (does a go)) (goal a 0) "
    )
    assert shown(f"{stuck}(<= terminal (true (on 3)))", 0, 9)["why"] == "a role has no legal move"
