"""What roles may expect at each step of a recorded match, and after which moves that fell most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gdl.syntax.parser import parse_term
from ggp.game import Game
from ggp.web.play.table import keep
from ggp.web.replay import analysis
from ggp.web.replay.recorded import read_match
from ggp.web.replay.replay_process import Replay
from players.match import Match
from tests.ggp.web.pages import Client, WebServer, press, token_of, until, wait

BLUNDER = ("(mark a 1)", "(mark b 2)", "(mark c 3)", "(mark a 3)", "(mark c 1)", "(mark b 1)", "(mark c 2)")
"""Tic-tac-toe: a corner instead of a side by o, and x has two threats."""


def recorded(name: str, line: tuple[str, ...]) -> dict[str, Any]:
    """The record of a match of two roles that move in turn."""
    game = Game.load(name)
    match = Match(game.machine("prover"))
    for number, text in enumerate(line):
        moves = (text, "noop") if number % 2 == 0 else ("noop", text)
        match.replay([match.machine.move_id(role, parse_term(move)) for role, move in enumerate(moves)])
    record: dict[str, Any] = json.loads(keep("record", game, name, 1, match, ["one", "two"], 0))
    return record


def analysed(record: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setattr(analysis, "_SECONDS", 6.0)
    return Replay(read_match(record), Game("kept", record["rules"])).analysed()


def test_the_move_that_loses_a_drawn_match_is_named_with_a_better_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = analysed(recorded("tictactoe", BLUNDER), monkeypatch)
    assert (told["constant"], told["hidden"], told["every"]) == (True, False, 1)
    assert told["values"][-1] == [100, 0] == told["values"][4]
    assert [sum(values) for values in told["values"]] == [100] * 8
    (fall,) = told["falls"]
    assert (fall["step"], fall["role"], fall["after"]) == (4, 1, 0)
    assert 40 < fall["before"] < 60 and fall["better"] in ("a2", "b1", "b3", "c2")


def test_a_move_that_ran_into_what_was_hidden_is_not_called_worse(monkeypatch: pytest.MonkeyPatch) -> None:
    told = analysed(recorded("kriegtictactoe", BLUNDER), monkeypatch)
    assert (told["hidden"], told["falls"]) == (True, [])
    assert told["values"][4] == [100, 0]


def test_what_follows_an_impossible_state_is_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    record = recorded("tictactoe", BLUNDER)
    record["states"][3] = "( ( cell a 1 z ) )"
    told = analysed(record, monkeypatch)
    assert None not in told["values"][2]
    assert told["values"][3:] == [[None, None]] * 5


async def test_an_analysis_of_a_brought_record_needs_the_token_of_a_page(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = token_of(client)
    brought = {"record": json.dumps(recorded("tictactoe", BLUNDER))}
    page = (await (await client.post("/replay/records", json=brought, headers=headers)).json())["page"]
    query = page.partition("?")[2]
    assert "(init (control x))" in (await (await client.get(f"/replay/rules?{query}")).json())["rules"]
    told = await (await client.post(f"/replay/analysis?{query}", headers=headers)).json()
    assert [fall["step"] for fall in told["falls"]] == [4]
    assert (await client.post("/replay/analysis?brought=none", headers=headers)).status == 400
    assert (await client.post(f"/replay/analysis?{query}")).status == 403


@pytest.mark.slow
def test_the_graph_leads_to_steps_and_a_table_goes_on_from_there(
    web: WebServer, browser: Any, tmp_path: Path
) -> None:
    (tmp_path / "one.json").write_text(json.dumps(recorded("tictactoe", BLUNDER)))
    browser.get(f"{web('--records', str(tmp_path))}/replay?file=one.json#2")
    wait(browser, "document.querySelector('#analyse')").click()
    wait(browser, "document.querySelector('.falls button')").click()
    until(browser, "location.hash", "#4")
    # The list has the rules' own words until the match is compared with the rules.
    until(browser, "document.querySelector('.history [aria-current]').textContent", "a3 ▼")
    browser.find_element("css selector", ".graph").click()  # in its middle
    until(browser, "['#3', '#4'].includes(location.hash)", True)
    browser.find_element("css selector", ".analysis summary").click()
    browser.execute_script("document.querySelectorAll('.values button')[4].click()")
    until(browser, "location.hash", "#4")
    browser.find_element("id", "go-on").click()
    wait(browser, "document.querySelector('dialog #start')").click()
    until(browser, "document.querySelector('output').textContent", "step 4 of 4")
    press(browser, "z")
    until(browser, "document.querySelector('output').textContent", "step 3 of 4")
