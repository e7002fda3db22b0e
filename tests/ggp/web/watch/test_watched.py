"""Matches are watched live, through losses on either side; what a player's server says is a stranger's."""

from __future__ import annotations

import json
import random
import re
import signal
import socket
from typing import Any

import pytest

from ggp.game import Game
from ggp.processes.budget import WorkBudget
from ggp.protocol.event_source import BEHIND, BEHIND_BYTES, _Reader, encode
from ggp.web.drawing_process import WatchedGame
from ggp.web.watch.watched import LONGEST_RULES, MATCH_BYTES, SERVER_BYTES, Watched, read_match
from tests.ggp.server.live import START, LiveServer
from tests.ggp.web.pages import Client, Listener, end_web, press, start_web, token_of, until


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.mark.slow
def test_a_match_is_watched_while_the_web_server_is_killed_and_comes_back(browser: Any) -> None:
    from selenium.webdriver import Keys

    player = LiveServer(matches=2)
    port = free_port()
    words = "web", "--port", str(port), "--watch", f"http://127.0.0.1:{player.port}"
    web, _ = start_web(*words)
    try:
        browser.get(f"http://127.0.0.1:{port}/watch")
        assert player.say(START) == "ready"
        until(browser, "document.querySelectorAll('a.card').length", 1)
        browser.find_element("css selector", "a.card").click()
        until(browser, "document.querySelector('.board')?.dataset.step", "0")
        player.say("( PLAY m1 NIL )")
        until(browser, "document.querySelector('.status')?.textContent", "answered Mark 1 1")
        end_web(web, signal.SIGKILL)
        player.say("( PLAY m1 ((Mark 1 1) pass) )")
        web, _ = start_web(*words)
        until(browser, "document.querySelector('.board')?.dataset.step", "1")
        until(browser, "document.querySelector('.history td button')?.textContent", "Mark 1 1")
        for key, step in ((Keys.HOME, "0"), (Keys.END, "1"), (Keys.ARROW_LEFT, "0")):
            press(browser, key)
            until(browser, "document.querySelector('.board')?.dataset.step", step)
        player.say("( STOP m1 ((Mark 1 1) pass) )")
        until(browser, "document.querySelector('.status')?.textContent.startsWith('Ended: stop')", True)
    finally:
        browser.get("about:blank")
        browser.get_log("browser")  # that the server was gone
        end_web(web)
        player.close()


def test_what_was_played_and_may_be_played_is_told_in_words() -> None:
    game = Game.load("breakthrough")
    machine, made = game.machine("prover"), []
    state = machine.initial_state()
    for _ in range(4):
        options = machine.options(state)
        made.append([machine.rules.spell(machine.move(role, o[-1])) for role, o in enumerate(options)])
        state = machine.next_state(state, [moves[-1] for moves in options])
    watched = WatchedGame(game.text)
    told: dict[str, Any] = watched.draw(made)
    assert [one["moves"] for one in told["history"]] == made
    for number, one in enumerate(told["history"]):
        words = [word for word in one["words"] if word is not None]
        assert len(words) == 1 and re.fullmatch("[a-h][1-8]-[a-h][1-8]", words[0])
        assert one["words"].index(words[0]) == number % 2
    legal = {move for moves in state.legal.values() for move in moves}
    assert told["texts"].keys() == legal
    assert not any("(" in text for text in told["texts"].values())
    # Steps may be put right.
    other = [made[0], ["noop", "(move a 7 a 6)"]]
    again: dict[str, Any] = watched.draw(other)
    assert again["history"][-1]["words"] == [None, "a7-a6"]


async def test_events_of_strangers_do_no_harm() -> None:
    rng = random.Random(3)
    values: list[Any] = [None, 1, -1.5, "", "(", "x" * 300, [], [[]], [["noop"]], [1], {}, {"a": []}, True]
    values.append("( role x )")
    fields = ["match", "role", "rules", "moves", "answers", "search", "clocks", "why", "goals", "game"]
    watched = Watched(["http://127.0.0.1:9"], WorkBudget(8, 2**32))
    try:
        for _ in range(3000):
            name = rng.choice(["match", "step", "search", "answer", "ended", "server", "", "x"])
            told = {field: rng.choice(values) for field in rng.sample(fields, rng.randrange(len(fields)))}
            watched.hear("http://127.0.0.1:9", name, told)
        assert encode("list", watched.list())
        for match in watched.matches.values():
            assert match._greeting()
    finally:
        await watched.close()


@pytest.mark.slow
async def test_a_server_fills_no_more_than_its_share_whatever_it_tells() -> None:
    rng = random.Random(4)
    urls = ("http://127.0.0.1:8", "http://127.0.0.1:9")

    def junk() -> str:
        return "x" * rng.choice((1, 1000, 100_000, LONGEST_RULES, 2 * LONGEST_RULES))

    watched = Watched(urls, WorkBudget(1, 1))  # nothing is drawn
    try:
        watched.hear(urls[0], "match", {"match": "quiet", "rules": "(role x)"})
        for _ in range(600):
            name = rng.choice(["match", "match", "step", "search", "answer", "ended"])
            told = {
                "match": f"m{rng.randrange(60)}",
                "rules": junk(),
                "moves": [[junk(), "a"]] * rng.choice((0, 5, 20_000)),
                "answers": [{"move": junk(), "note": junk(), "junk": junk()}] * rng.choice((0, 50, 5000)),
                "search": {"note": junk(), "candidates": [[junk(), 1, 1]] * 100, "junk": junk()},
                "junk": junk(),
                junk()[:10_000]: 1,
            }
            watched.hear(urls[1], name, told)
            for match in watched.matches.values():
                assert match.size <= MATCH_BYTES
                assert set(match.fields) <= set(read_match({"rules": ""}) or ())
            flooding = [match for match in watched.matches.values() if match.server == urls[1]]
            assert sum(match.size for match in flooding) <= SERVER_BYTES + MATCH_BYTES
            assert sum(len(encode("x", match.fields)) for match in flooding) < 2 * SERVER_BYTES
        assert any(match.fields["match"] == "quiet" for match in watched.matches.values())
    finally:
        await watched.close()


def test_a_reader_that_is_slow_holds_few_bytes() -> None:
    reader = _Reader()
    for size in (10, 1000, BEHIND_BYTES // 3, BEHIND_BYTES // 3, BEHIND_BYTES // 3, 3 * BEHIND_BYTES, 10):
        event = b"x" * size
        reader.add(event)
        assert reader.waiting[-1] is event
        assert sum(map(len, reader.waiting)) <= max(BEHIND_BYTES, size)
    for _ in range(3 * BEHIND):
        reader.add(b"x")
    assert len(reader.waiting) <= BEHIND


@pytest.mark.parametrize("address", ["", "ftp://x", "http://x:99999"])
def test_what_is_no_address_is_refused(address: str) -> None:
    from gdl.errors import GdlError

    with pytest.raises(GdlError):
        Watched([address], WorkBudget(8, 2**32))


# --- A match at a table of the page is watched like any other, by those who have no key to the table
@pytest.mark.slow
async def test_a_table_is_watched_from_its_first_state_to_its_end_and_back_again(client: Client) -> None:

    async def post(path: str, **fields: object) -> dict[str, Any]:
        told: dict[str, Any] = await (await client.post(path, json=fields, headers=token_of(client))).json()
        return told

    order = {"game": "tictactoe", "seats": ["uct:workers=1", "human"]}
    opened = await post("/play/tables", **order, playclock=1.5)
    table, own = opened["table"], opened["key"]
    everything = Listener(client, "/watch/events")
    matches: list[dict[str, Any]] = []
    while not matches:
        matches = (await everything.until("list"))["matches"]
    assert (matches[0]["match"], matches[0]["game"]) == ("table 1", "Tic-tac-toe")
    assert matches[0]["role"] == "x: uct:workers=1 - o: human"
    key = matches[0]["key"]
    onlooker = Listener(client, f"/watch/{key}/events")
    search = await onlooker.until("search")
    assert search["candidates"] and search["note"].startswith("x, ") and 0 <= search["expects"] <= 100
    await onlooker.until("board", lambda told: told["step"] == 1)
    answer = next(told for name, told in onlooker.heard if name == "answer")
    assert answer["turn"] == 1 and answer["expects"] is not None

    earlier = await (await client.get(f"/watch/{key}/steps/0")).json()
    assert earlier["step"] == 0 and "<svg" in earlier["svg"]

    await post(f"/play/{table}/seat", role="o", player="legal", key=own)
    await post(f"/play/{table}/seat", role="x", player="legal", key=own)
    ended = await onlooker.until("ended")
    assert ended["text"].startswith("done: ")
    await post(f"/play/{table}/goto", step=1, key=own)
    again = await onlooker.until("match")
    assert again["why"] == ""
    await onlooker.until("board", lambda told: told["step"] == 1)
    said = json.dumps(onlooker.heard + everything.heard)
    assert table not in said, "whoever looks on could play"
