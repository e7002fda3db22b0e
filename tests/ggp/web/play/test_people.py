"""People at one table: seats by keys, names, what they ask each other, clocks, levels."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from gdl.errors import GdlError
from ggp.game import Game
from ggp.processes.parent import Inbox
from ggp.web.play import routes
from ggp.web.play.company import checked_name
from ggp.web.play.game_clock import GameClock
from ggp.web.play.requests import REQUESTS
from ggp.web.play.routes import TABLES
from ggp.web.play.table import Table, TableRequest
from ggp.web.play.table_process import BlindTable
from ggp.web.random_ends import RandomEnds
from ggp.web.replay.recorded import read_match
from tests.ggp.web.pages import Client
from tests.ggp.web.play.test_tables import At, opened


async def joined(at: At, role: str, name: str = "") -> At:
    """Somebody who opens the address and sits down."""
    person = At(at.client, at.table, at.headers)
    person.key = (await person.request("sit", role=role, name=name))["key"]
    await person.until("state", lambda s: None not in s["persons"])
    return person


def same_match(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two records tell the same of a match."""
    return all(one[name] == other[name] for name in ("moves", "states", "end", "playerNamesFromHost", "seed"))


async def test_each_of_two_moves_its_own_side_and_a_wrong_key_changes_nothing(client: Client) -> None:
    one = await opened(client, game="tictactoe", seats=["human", "friend"], name="Ann")
    state = await one.until("state")
    assert (state["seats"], state["persons"]) == (["human", "human"], [0, None])
    for name in ("uct", "Ann", "the page, easy", "<b>", "a\u202eb"):
        assert "error" in await At(client, one.table, one.headers).request("sit", role="o", name=name)
    two = await joined(one, "o", "Bob")
    people = [fields for kind, fields in two.heard if kind == "people"][-1]
    assert people["you"] == [1] and [seat["name"] for seat in people["seats"]] == ["Ann", "Bob"]
    stranger = At(client, one.table, one.headers, "x" * 16)
    assert "taken" in (await stranger.request("sit", role="o"))["error"]
    for do in REQUESTS.keys() - {"sit"}:
        reply = await client.post(
            f"/play/{one.table}/{do}",
            json={"role": "x", "move": "(mark a 1)", "player": "uct", "step": 0, "to": "a", "key": "x" * 16},
            headers=one.headers,
        )
        assert reply.status == 403, do
    await two.request("move", role="x", move="(mark a 1)")
    assert "not your role" in (await two.until("note"))["text"]
    for do, fields in (
        ("seat", {"role": "x", "player": "uct"}),
        ("swap", {}),
        ("pause", {}),
        ("hint", {"role": "o"}),
    ):
        await two.request(do, **fields)
        assert "several people" in (await two.until("note"))["text"], do
    await one.request("move", role="x", move="(mark b 2)")
    state = await two.until("state", lambda s: s["step"] == 1)
    assert len(state["history"]) == 1 and state["seats"] == ["human", "human"]
    await two.request("goto", step=0)  # looks back alone
    assert (await two.until("state", lambda s: s["step"] == 0))["looks"]
    stranger.key = ""
    assert (await stranger.until("state"))["step"] == 1


async def test_people_agree_on_taking_back_on_a_draw_and_on_another_match(client: Client) -> None:
    one = await opened(client, game="tictactoe", seats=["human", "friend"], name="Ann")
    await one.until("state")
    two = await joined(one, "o", "Bob")
    await one.request("move", role="x", move="(mark b 2)")
    await one.request("back")
    assert (await two.until("state", lambda s: s["offers"]))["offers"] == {"back": [0]}
    await two.request("back")
    assert (await one.until("state", lambda s: s["step"] == 0 and s["steps"] == 1))["offers"] == {}
    await one.request("draw")
    await two.until("state", lambda s: s["offers"])
    await two.request("decline", offer="draw")
    await one.until("state", lambda s: s["draws"] and not s["offers"])
    await one.request("draw")
    assert "declined" in (await one.until("note"))["text"]
    await two.request("draw")
    await one.until("state", lambda s: s["offers"] == {"draw": [1]})
    await one.request("move", role="x", move="(mark a 1)")
    assert (await one.until("state", lambda s: s["step"] == 1))["offers"] == {}, "an offer ends with a move"
    await two.request("resign", role="x")
    assert "not your role" in (await two.until("note"))["text"]
    await two.request("resign", role="o")
    over = await one.until("state", lambda s: s["over"])
    assert (over["goals"], over["reason"]) == ([100, 0], "Bob (o) resigned: Ann (x) has won")
    kept = await (await client.get(f"/play/{one.table}/keep?form=record")).json()
    assert kept["isAborted"] and kept["playerNamesFromHost"] == ["Ann", "Bob"]
    assert read_match(kept).end == over["reason"]
    assert over["reason"] in await (await client.get(f"/play/{one.table}/keep?form=html")).text()
    await two.request("again")
    await one.until("state", lambda s: s["offers"])
    await one.request("again")
    again = await one.until("state", lambda s: not s["over"] and s["steps"] == 0)
    assert again["persons"] == [1, 0]
    # Who asks for the record does not know yet that another match has begun.
    late = await (await client.get(f"/play/{one.table}/keep?form=record&over=yes")).json()
    assert same_match(late, kept)
    assert (await client.get(f"/play/{one.table}/keep?form=record")).status == 403


async def test_a_seat_is_kept_for_a_while_and_then_free_and_a_reload_keeps_it(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "GONE_SECONDS", 0.1)
    one = await opened(client, game="tictactoe", seats=["human", "friend"])
    await one.until("state")
    two = await joined(one, "o", "Bob")
    table = client.app[TABLES].get(one.table)
    person = table._people[two.key]

    def away() -> None:  # what happens when its connection is closed
        person.pages, person.left = 0, time.monotonic()

    assert two.reader is not None
    away()
    await asyncio.sleep(0.2)
    table._tell_people()
    away_now = await one.until("people", lambda s: s["you"] == [0] and not s["seats"][1]["here"])
    assert away_now["seats"][1] == {"name": "Bob", "here": False, "free": False}
    again = At(client, one.table, one.headers, two.key)
    assert (await again.until("people"))["you"] == [1]
    away()
    table._miss(person)
    assert (await one.until("people", lambda s: s["seats"][1]["here"]))["you"] == [0]
    monkeypatch.setattr(routes, "KEPT_SECONDS", 0.0)
    table._miss(person)
    assert (await one.until("people", lambda s: s["seats"][1]["free"]))["seats"][1]["name"] == ""
    other = await joined(one, "o", "Eve")
    assert "look on" in (await again.request("move", role="o", move="noop"))["error"]
    assert other.key != two.key


async def test_the_seat_of_who_left_a_match_with_a_clock_is_free_after_its_end(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(routes, "KEPT_SECONDS", 0.0)
    one = await opened(client, game="tictactoe", seats=["human", "friend"], minutes=5)
    await one.until("state")
    two = await joined(one, "o")
    table = client.app[TABLES].get(one.table)
    table._people[two.key].pages = 0
    table._miss(table._people[two.key])
    await one.request("move", role="x", move="(mark a 1)")
    assert (await one.until("state", lambda s: s["step"] == 1))["persons"] == [0, 1]
    await one.request("resign", role="x")
    assert (await one.until("state", lambda s: s["over"] and s["persons"][1] is None))["persons"] == [0, None]


async def test_who_looked_back_and_loads_the_page_again_sees_the_newest_state(client: Client) -> None:
    one = await opened(client, game="tictactoe", seats=["human", "friend"])
    await one.until("state")
    two = await joined(one, "o")
    await one.request("move", role="x", move="(mark b 2)")
    for step in (0, 1):
        await one.request("goto", step=step)
        await one.until("state", lambda s, step=step: s["step"] == step)  # type: ignore[misc]
    await two.request("move", role="o", move="(mark a 1)")
    await one.until("state", lambda s: s["step"] == 2)
    assert (await At(client, one.table, one.headers, one.key).until("state"))["step"] == 2


async def test_the_level_changes_in_the_middle_and_the_match_goes_on(client: Client) -> None:
    at = await opened(client, game="tictactoe", seats=["human", "uct:playouts=30"], playclock=1)
    await at.until("state")
    await at.request("move", role="x", move="(mark b 2)")
    state = await at.until("state", lambda s: s["step"] == 2)
    assert state["thought"][0]["role"] == 1 and state["thought"][0]["candidates"]
    await at.request("seat", role="o", player="uct", seconds=0.3)
    state = await at.until("state", lambda s: s["seats"] == ["human", "uct"])
    assert (state["step"], state["seconds"]) == (2, [1, 0.3])
    await at.request("move", role="x", move=state["asked"][0]["moves"][-1]["move"])
    assert (await at.until("thinking"))["seconds"] == 0.3
    state = await at.until("state", lambda s: s["step"] == 4)
    await at.request("goto", step=3)  # a step of the person: nobody has searched there
    assert (await at.until("state", lambda s: s["step"] == 3))["thought"] == []


def table_of(game: str, seats: list[str], **more: Any) -> tuple[Table, list[tuple[str, dict[str, Any]]]]:
    """A table in this process, and what it says."""
    said: list[tuple[str, dict[str, Any]]] = []
    table = Table(
        TableRequest(Game.load(game), seats, **more),
        Inbox(),
        lambda kind, **fields: said.append((kind, fields)),
    )
    return table, said


def test_who_runs_out_of_time_has_lost_where_goals_are_opposed() -> None:
    table, said = table_of("tictactoe", ["human", "human"], minutes=0.001, name="Ann")
    table._turn()
    state = [fields for kind, fields in said if kind == "state"][-1]
    assert (state["over"], state["goals"], state["left"]) == (True, [0, 100], [0.0, 0.1])
    assert state["reason"] == "Ann (x) ran out of time: Ann (o) has won"
    table._requests._inbox.put({"do": "move", "role": "x", "move": "(mark a 1)", "person": 0})
    table._turn()
    assert "over" in said[-1][1]["text"] and not table.match.steps


def test_elsewhere_a_random_move_is_made_and_the_increment_counts() -> None:
    table, said = table_of("prisonersdilemma", ["human", "human"], minutes=0.001, increment=30)
    while not table.match.steps:
        table._turn()
    assert table._clock.left(0) > 25
    assert any("random move" in fields.get("text", "") for _, fields in said)


def test_no_clock_runs_while_a_seat_is_free_or_the_match_stands() -> None:
    table, _ = table_of("tictactoe", ["human", "friend"], minutes=1)
    assert table._allowed() == 60 and not table._clock._since and table._whole(0)["running"] == []
    table._obey({"do": "sit", "person": 1, "role": "o", "name": "Bob"})
    assert 59 < table._allowed() < 60 and table._whole(0)["running"] == [0]
    table._obey({"do": "left", "person": 1})
    assert table._company.at == [0, 1], "who leaves does not escape the clock"


def test_a_player_gets_a_share_of_its_clock() -> None:
    table, said = table_of("tictactoe", ["uct:playouts=30", "human"], minutes=0.5, increment=1, playclock=60)
    table._turn()
    thinking = next(fields for kind, fields in said if kind == "thinking")
    assert 1 < thinking["seconds"] < 3
    clock = GameClock(2, 60, 2, 0)
    assert abs(clock.share(0) - 3.6) < 0.01
    assert GameClock(2, 0.6, 30, 0).share(0) < 0.31, "never more than half of what is left"
    clock.run([0])
    clock.moved(0)
    assert 61.9 < clock.left(0) <= 62 and clock.left(1) == 60


@pytest.mark.parametrize(
    ("game", "worst", "draw"),
    [
        ("tictactoe", (0, 100), (50, 50)),
        ("hex", (0, 100), ()),  # its rules name 50, but no match ends so
        ("kuhn", (0, 100, 0), ()),
        ("prisonersdilemma", None, ()),
        ("twentyfortyeight", None, ()),
    ],
)
def test_a_role_gives_up_and_a_draw_is_agreed_on_where_matches_can_end_so(
    game: str, worst: tuple[int, ...] | None, draw: tuple[int, ...]
) -> None:
    ends = RandomEnds.of(Game.load(game).machine("propnet"))
    assert bool(ends.ends) == (worst is not None) and ends.draw == draw
    assert worst is None or ends.given_up(0) == worst


def test_a_role_of_hidden_information_resigns_and_all_is_shown() -> None:
    said: list[tuple[str, dict[str, Any]]] = []
    request = TableRequest(Game.load("kuhn"), ["human", "friend"], seed=1)
    table = BlindTable(request, Inbox(), lambda kind, **fields: said.append((kind, fields)))
    table._obey({"do": "sit", "person": 1, "role": "second", "name": "Bob"})
    table._turn()  # the deal
    table._obey({"do": "left", "person": 1})
    assert table._company.at[1] == 1, "nobody else takes a seat that sees hidden things"
    table._obey({"do": "resign", "role": "first", "person": 0})
    told = {fields["to"]: fields for kind, fields in said if kind == "state"}
    assert {state["blind"]["over"] for state in told.values()} == {True}
    assert told[1]["goals"] == [0, 100, None]
    table._obey({"do": "keep", "form": "record"})
    record = json.loads(said[-1][1]["text"])
    assert record["end"] == "first resigned: Bob (second) has won" and "seed" in record
    for person in (0, 1):
        table._obey({"do": "again", "person": person})
    table._obey({"do": "keep", "form": "record", "over": True})
    assert same_match(json.loads(said[-1][1]["text"]), record)
    table._obey({"do": "keep", "form": "record"})
    assert "after its end" in said[-1][1]["error"]


@pytest.mark.parametrize("kind", [Table, BlindTable])
def test_no_match_is_kept_as_over_before_one_is(kind: type[Table]) -> None:
    said: list[dict[str, Any]] = []
    table = kind(
        TableRequest(Game.load("kuhn"), ["human"]), Inbox(), lambda kind, **fields: said.append(fields)
    )
    table._obey({"do": "keep", "form": "record", "over": True})
    assert said[-1]["error"].startswith("no match is over")


@pytest.mark.parametrize(
    "name",
    [
        "uct",
        "UCT",
        "u c t",
        "human",
        "You",
        "the page",
        "The Page 2",
        "ｕｃｔ",
        "bob",
        "x" * 25,
        "<i>",
        "a:b",
        "a\nb\x00",
        "uсt",
        "\u13acasy",  # a Cherokee letter
        "Bob\u1160",  # a letter that nobody sees
        "\u115f",
        "-",
    ],
)
def test_nobody_is_called_like_a_player_or_another_person(name: str) -> None:
    with pytest.raises(GdlError):
        checked_name(name, ["Bob", "mine:Mine"])


def test_names_of_people_have_letters_of_one_alphabet() -> None:
    assert [checked_name(name, []) for name in (" Ann  Lee ", "Йосиф", "李", "O'Neil-2", "")] == [
        "Ann Lee",
        "Йосиф",
        "李",
        "O'Neil-2",
        "",
    ]


def test_a_move_counts_from_when_it_came_and_a_flood_of_requests_stops_no_clock() -> None:
    table, _ = table_of("tictactoe", ["human", "friend"], minutes=1)
    table._obey({"do": "sit", "person": 1, "role": "o", "name": ""})
    table._allowed()
    began = table._clock._since[0]
    inbox = table._requests._inbox
    inbox.put({"do": "goto", "step": 0, "person": 1, "came": began + 1})
    inbox.put({"do": "move", "role": "x", "move": "(mark a 1)", "person": 0, "came": began + 2})
    table._turn()
    table._turn()
    assert table._clock.left(0) == 58
    table._turn()  # makes the joint move
    inbox.put({"do": "goto", "step": 0, "person": 1, "came": time.monotonic() + 61})
    table._turn()
    assert table.match.closed is not None and table.match.closed.goals == (100, 0)
