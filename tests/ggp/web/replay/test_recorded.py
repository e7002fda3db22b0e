"""Records are read as managers write them, listed, seen as a role saw them, and brought by pages."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gdl.errors import GdlError
from gdl.prover.machine import ProverMachine
from ggp.answers.catalogue import title_of
from ggp.game import Game
from ggp.manager import GameManager, StandIn
from ggp.processes.parent import explain
from ggp.protocol.http_error import BusyError
from ggp.protocol.match_record import MatchRecord
from ggp.web.replay import routes as shelves
from ggp.web.replay.recorded import RecordedMatch, read_match, records_in
from ggp.web.replay.replay_process import CARRIED, NAMED, UNKNOWN, ComparedMatch, Replay, ReplayDesk, as_page
from ggp.web.replay.routes import Shelf, ShelvedRecord
from players.belief.belief import observed
from players.match import Match
from tests.examples import examples
from tests.ggp.told import Told
from tests.ggp.web.pages import WebServer, press, until


def read_record(text: str) -> RecordedMatch:
    return read_match(records_in(text)[0])


async def played(name: str, seed: int = 0) -> MatchRecord:
    game = Game.load(name)
    machine = game.machine("prover")
    players = [StandIn("random", "random") for _ in machine.roles]
    record = MatchRecord(f"Match.kaskade.{name}.1", 1, 1, [f"p{i}" for i in range(len(players))], game=name)
    await GameManager(game.kif, machine, players, record, seed=seed).run()
    return record


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    return asyncio.run(played("tictactoe")).to_dict()


def test_a_match_of_ours_agrees_with_its_rules(told: dict[str, Any]) -> None:
    match = read_record(json.dumps(told))
    assert (match.game, match.players) == ("tictactoe", ("p0", "p1"))
    assert len(match.states) == len(match.moves) + 1
    replay = Replay(match, Game.load("tictactoe"))
    story = replay.story()
    compared = replay.compared()
    assert compared.doubts == {}
    assert list(compared.words) == list(range(1, len(match.states)))
    for step, words in compared.words.items():  # (mark a 1) is a1; who does not have the turn says nothing
        marked = [move.args for move in match.moves[step - 1] if move.args]
        assert [word for word in words if word] == [f"{x}{y}" for x, y in marked]
    assert story["roles"] == ["x", "o"]
    assert not any(step["faults"] for step in story["steps"])
    assert story["steps"][1]["moves"] == [
        move.replace("( ", "(").replace(" )", ")") for move in told["moves"][0]
    ]
    assert sum(story["goals"]) == 100


def test_the_board_is_the_same_with_rules_that_nobody_knows(told: dict[str, Any]) -> None:
    match = read_record(json.dumps(told))
    drawn = Replay(match, None).frame(len(match.states) - 1)
    assert str(drawn["svg"]).count('class="gb-square"') == 9


def test_what_parts_from_the_rules_is_told_at_its_step(told: dict[str, Any]) -> None:
    game = Game.load("tictactoe")
    other = {**told, "states": [*told["states"]], "errors": [["", ""] for _ in told["states"]]}
    other["states"][2] = other["states"][2].replace("control x", "control o")
    other["errors"][3] = ["TO", "IL no"]
    replay = Replay(read_record(json.dumps(other)), game)
    assert min(replay.compared().doubts) == 2
    faults = replay.story()["steps"][3]["faults"]
    assert [fault["text"] for fault in faults] == ["no answer in time", "illegal move: no"]
    twice = {**told, "moves": [told["moves"][0], told["moves"][0], *told["moves"][2:]]}
    assert "not legal" in Replay(read_record(json.dumps(twice)), game).compared().doubts[2]
    cut = {**told, "states": told["states"][:3], "moves": told["moves"][:2], "goalValues": [50, 50]}
    assert list(Replay(read_record(json.dumps(cut)), game).compared().doubts) == [2]


def test_records_of_other_managers_name_their_game_by_its_address(told: dict[str, Any]) -> None:
    for url in ("http://games.ggp.org/base/games/ticTacToe/", "http://x/base/games/ticTacToe/v0/"):
        assert read_record(json.dumps({**told, "game": "", "gameMetaURL": url})).game == "ticTacToe"
    # The id of a match is no name of a game.
    assert read_record(json.dumps({**told, "game": ""})).game == ""
    states = [
        f"( true {state.strip()[1:-1].strip().replace(' ( ', ' ( true ( ')} )" for state in ["( ( a 1 ) )"]
    ]
    assert read_record(json.dumps({"matchId": "m", "states": states})).states


@given(st.text(max_size=200))
@example("[" * 100_000)
@example('{"a":' * 100_000)
@example("[]")
@example('{"type": "game"}\n{}')
def test_text_that_is_no_record_is_refused(text: str) -> None:
    for read in (read_record, answer):
        with pytest.raises(GdlError):
            read(text)


def test_an_exported_file_has_no_way_out(told: dict[str, Any]) -> None:
    evil = {**told, "playerNamesFromHost": ["</script><script>alert(1)</script>", "<!--<script>"]}
    replay = Replay(read_record(json.dumps(evil)), Game.load("tictactoe"))
    page = as_page(replay.story(), ComparedMatch(), [replay.frame(0)])
    assert "default-src 'none'" in page
    assert page.count("<script") == 2 and "<!--" not in page.partition("<script")[2]


# --- A recorded match of hidden information is seen as a role saw it: by what it did and perceived alone
def recorded(game: Game, seed: int) -> MatchRecord:
    """A random match."""
    machine, rng = ProverMachine(game.rules), random.Random(seed)
    record = MatchRecord("m", 1, 1, ["one", "two"], game=game.name)
    match = Match(machine, rng)
    while True:
        record.add_state(match.state, [""] * len(machine.roles))
        if match.over:
            return record
        for role in match.waiting:
            match.replace(role, "none")
        step = match.make()
        record.add_moves(step.state, step.joint)


def test_two_matches_that_are_the_same_to_a_role_look_the_same_when_seen_as_it() -> None:
    game, told = Game.load("kuhn"), Told()
    machine = game.machine("prover")
    for seed in range(25):
        match = read_match(recorded(game, seed).to_dict())
        replay = Replay(match, game)
        assert replay.story()["hidden"] == [0, 1]
        for role in (0, 1):
            history: tuple[object, ...] = ()
            sights = replay.sights(role)
            assert len(sights) == len(match.states) - 1  # at the end all is told
            for step, sight in enumerate(sights):
                told.note("sight", role, history, orjson.dumps(sight), match.states[step])
                state = machine.state_of(match.states[step])
                joint = tuple(machine.move_id(one, move) for one, move in enumerate(match.moves[step]))
                history = (*history, observed(state, joint)[role])
    assert told.compared > 20
    assert told.differences == []


def test_guesses_of_a_code_are_seen_in_the_truth_and_by_who_made_them() -> None:
    game = Game.load("mastermind")
    match = read_match(recorded(game, 1).to_dict())
    replay = Replay(match, game)
    guesses = len(match.states) - 1 - 4
    for svg, shown in (
        (replay.frame(len(match.states) - 1)["svg"], guesses),
        (replay.sights(0)[-1]["svg"], guesses - 1),
    ):
        assert len(re.findall("<title>[0-9]+: [a-z]+, [a-z]+, [a-z]+, [a-z]+", str(svg))) == shown > 0


def test_where_nothing_is_hidden_there_is_nothing_to_see_as_somebody() -> None:
    game = Game.load("tictactoe")
    replay = Replay(read_match(recorded(game, 1).to_dict()), game)
    assert replay.story()["hidden"] == []
    with pytest.raises(GdlError, match="anything hidden"):
        replay.sights(0)


# --- Files with several matches are listed; 1,000 malformed ones are each told in one line
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


@examples(300)
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


# --- What pages bring is kept once it can be read: what is refused takes no room, and pushes nothing out
SHELVED = {"matchId": "m", "states": ["( ( p ) )"], "moves": []}


async def chunks(data: bytes) -> AsyncIterator[bytes]:
    for at in range(0, len(data), 1000):
        yield data[at : at + 1000]


def body(record: object, **more: object) -> bytes:
    return json.dumps({"record": json.dumps(record), **more}).encode()


async def check(record: ShelvedRecord) -> None:
    """As the process with limits does it."""
    order = {"do": "story", "kind": record.kind, "path": str(record.path), "match": 0}
    ReplayDesk().answer(order, lambda *_, **__: None)


def kept(shelf: Shelf) -> int:
    """Files that the shelf has on disk."""
    assert shelf._room is not None
    return len(list(Path(shelf._room.name).iterdir()))


async def test_what_is_refused_takes_no_room_and_pushes_nothing_out() -> None:
    shelf = Shelf(None)
    try:
        name = await shelf.take(chunks(body(SHELVED, game="tictactoe")), check)
        found: Any = shelf.find({"brought": name})
        for bad in (
            b"",
            b"[]",
            b"{",
            b"x" * 10_000,
            body([]),
            body(SHELVED, rules=3),
            b'{"record": "\\ud800"}',
        ):
            for _ in range(shelves.MOST_BROUGHT):
                with pytest.raises(GdlError):
                    await shelf.take(chunks(bad), check)
        assert kept(shelf) == 1
        assert shelf.find({"brought": name}) == found
        room = Path(found.path).parent
        assert room.stat().st_mode & 0o077 == 0
    finally:
        shelf.close()
    assert not room.exists()


async def test_the_oldest_make_room_for_good_ones_by_number_and_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shelves, "MOST_BROUGHT", 3)
    shelf = Shelf(None)
    try:
        names = [await shelf.take(chunks(body(SHELVED)), check) for _ in range(5)]
        assert kept(shelf) == 3
        with pytest.raises(GdlError, match="upload it again"):
            shelf.find({"brought": names[1]})
        monkeypatch.setattr(shelves, "MOST_BYTES", 2 * len(body(SHELVED)) - 1)
        names.append(await shelf.take(chunks(body(SHELVED)), check))
        assert kept(shelf) == 1
        assert shelf.find({"brought": names[-1]}).path.exists()
    finally:
        shelf.close()


async def test_only_a_few_are_brought_at_the_same_time() -> None:
    shelf, go = Shelf(None), asyncio.Event()

    async def slow() -> AsyncIterator[bytes]:
        await go.wait()
        yield body(SHELVED)

    try:
        coming = [asyncio.create_task(shelf.take(slow(), check)) for _ in range(shelves.MOST_COMING)]
        await asyncio.sleep(0)
        with pytest.raises(BusyError):
            await shelf.take(chunks(body(SHELVED)), check)
        go.set()
        assert len(set(await asyncio.gather(*coming))) == shelves.MOST_COMING
        await shelf.take(chunks(body(SHELVED)), check)
    finally:
        shelf.close()


# --- Records are replayed in a real browser, by keys; files are brought and kept
@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    told = asyncio.run(played("breakthrough")).to_dict()
    told["errors"][3] = ["TO", ""]
    path = tmp_path_factory.mktemp("records") / "sub" / "one.json"
    path.parent.mkdir()
    path.write_text(json.dumps(told))
    return path


@pytest.mark.slow
def test_a_record_of_the_folder_is_replayed_by_keys(web: WebServer, browser: Any, record: Path) -> None:
    from selenium.webdriver import Keys

    last = len(json.loads(record.read_text(encoding="utf-8"))["states"]) - 1
    address = web("--records", str(record.parent.parent))
    browser.get(f"{address}/replay")
    until(browser, "document.querySelectorAll('a.card').length", 1)
    until(browser, "document.querySelectorAll('a.card .gb-square').length", 64)
    assert browser.find_element("css selector", "a.card strong").text == "Breakthrough"
    assert browser.find_element("css selector", "a.card .line").text.startswith("p0 ")
    browser.find_element("css selector", "a.card").click()
    where = "document.querySelector('output')?.textContent"
    until(browser, where, f"step 0 of {last}")
    press(browser, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    until(browser, where, f"step 2 of {last}")
    assert browser.current_url.endswith("#2")
    until(browser, "document.querySelectorAll('.history tbody td button').length", last)
    press(browser, "n")
    until(browser, where, f"step 3 of {last}")
    assert "no answer in time" in browser.find_element("css selector", ".status").text
    press(browser, Keys.END)
    until(browser, where, f"step {last} of {last}")
    until(browser, "document.querySelectorAll('.board .gb-square').length", 64)
    height = "return document.querySelector('.board [data-square=\"0,0,0\"]').getBoundingClientRect().top"
    below = browser.execute_script(height)
    press(browser, "f")
    assert browser.execute_script(height) < below - 100, "the board is turned"
    press(browser, Keys.HOME, " ")
    until(browser, "document.querySelector('[aria-pressed]').textContent", "Stop")
    until(browser, where, f"step 1 of {last}")
    browser.get(browser.current_url.partition("#")[0] + f"#{last - 1}")
    until(browser, where, f"step {last - 1} of {last}")


def test_a_file_is_brought_and_kept_as_one_page(
    web: WebServer, browser: Any, record: Path, tmp_path: Path
) -> None:
    browser.get(f"{web()}/replay")
    until(browser, "document.querySelectorAll('#file').length", 1)
    browser.find_element("id", "file").send_keys(str(record))
    until(browser, "document.querySelectorAll('.board .gb-square').length", 64)
    page = browser.execute_async_script(
        "const done = arguments[0];"
        "fetch(document.querySelector('a[download]').href).then((r) => r.text()).then(done)"
    )
    kept = tmp_path / "kept.html"
    kept.write_text(page)
    browser.get(f"{kept.as_uri()}#2")
    until(browser, "document.querySelector('output')?.textContent.startsWith('step 2 of')", True)
    until(browser, "document.querySelectorAll('.board .gb-square').length", 64)


@pytest.mark.slow
def test_a_match_that_is_being_played_is_followed(
    web: WebServer, browser: Any, tmp_path: Path, record: Path
) -> None:
    """The file grows as `ggp host --output` writes it."""
    told = json.loads(record.read_text(encoding="utf-8"))
    states, goals = told["states"], told.pop("goalValues")

    def write(steps: int, **more: object) -> None:
        cut = {"states": states[: steps + 1], "moves": told["moves"][:steps], "isCompleted": False}
        new = tmp_path / "new"
        new.write_text(json.dumps({**told, **cut, **more}))
        new.replace(tmp_path / "live.json")

    write(2)
    browser.get(f"{web('--records', str(tmp_path))}/replay?file=live.json#2")
    where = "document.querySelector('output')?.textContent"
    until(browser, where, "step 2 of 2")
    write(40)
    until(browser, where, "step 40 of 40")
    browser.execute_script("location.hash = '#7'")
    until(browser, where, "step 7 of 40")
    last = len(states) - 1
    write(last, goalValues=goals)
    until(browser, where, f"step 7 of {last}")
    browser.execute_script("document.querySelector('[aria-label=last]').click()")
    until(browser, "/ (100|0)\\b/.test(document.querySelector('.status').textContent)", True)
