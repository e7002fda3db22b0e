"""Tables of games that hide information: what each is told, and that nobody sees too much."""

from __future__ import annotations

import random
from typing import Any, cast

import orjson
import pytest

from gdl.information import hides
from ggp.game import Game
from ggp.processes.parent import Inbox
from ggp.rule_files import installed_games
from ggp.web.play.requests import REQUESTS
from ggp.web.play.table import AttentiveSeat, TableRequest
from ggp.web.play.table_process import BlindTable
from ggp.web.play.view import OUTSIDE
from ggp.web.replay.recorded import read_match
from ggp.web.watch.watched import WATCHED
from players.player import Candidate, Choice
from tests.ggp.told import Told
from tests.ggp.web.pages import Client
from tests.ggp.web.play.test_tables import At, moves, opened


async def sits(at: At, role: str) -> At:
    """Somebody who comes by sits down there."""
    person = At(at.client, at.table, at.headers)
    person.key = (await person.request("sit", role=role))["key"]
    await person.begin()
    return person


def outside(at: At) -> At:
    """Somebody who looks on."""
    return At(at.client, at.table, at.headers)


async def move(person: At, state: dict[str, Any], text: str = "") -> dict[str, Any]:
    role = state["roles"][state["asked"][0]["role"]]
    return await person.request("move", role=role, move=text or moves(state)[0])


async def test_each_person_is_told_what_its_role_knows_and_all_of_it_after_the_end(client: Client) -> None:
    one = await opened(client, game="kuhn", seats=["human", "friend"])
    at = outside(one)
    watched = await at.until("state")
    assert (watched["blind"], watched["seats"]) == ({"over": False, "as": None}, ["human", "human", "random"])
    two = await sits(at, "second")
    assert "already" in (await at.request("sit", role="first"))["error"]
    assert "no person" in (await at.request("sit", role="random"))["error"]
    first = await one.until("state", lambda s: s["asked"] != [])
    second = await two.until("state", lambda s: s["step"] == 1 and s["blind"]["as"] == 1)
    own = [state["blind"]["percepts"][0].split()[-1] for state in (first, second)]
    assert own[0] != own[1]
    assert f"second {own[1]}" not in first["svg"] and f"first {own[0]}" in first["svg"]
    assert [share for _, share in first["blind"]["guesses"]] == [50, 50]
    assert (second["asked"], second["choosing"]) == ([], [])
    # The other's key, or none, makes no move for it; nothing is taken back; nothing is kept.
    await two.request("move", role="first", move="bet")
    assert "not your role" in (await two.until("note"))["text"]
    assert "look on" in (await at.request("move", role="first", move="bet"))["error"]
    await one.request("back")
    assert "hides information" in (await one.until("note"))["text"]
    assert (await client.get(f"/play/{at.table}/keep?form=record&key={one.key}")).status == 400
    assert (await client.get(f"/play/{at.table}/keep?form=record")).status == 403
    await move(one, first, "bet")
    second = await two.until("state", lambda s: s["asked"] != [])
    assert second["blind"]["percepts"] == ["first: bet"]
    assert [step["moves"] for step in second["history"]] == [["", "noop", ""]] * 2
    await move(two, second, "call")
    for person in (one, two, at):
        over = await person.until("state", lambda s: s["over"])
        assert f"first {own[0]}" in over["svg"] and f"second {own[1]}" in over["svg"]
        assert over["history"][0]["moves"] == ["noop", "noop", f"(deal {own[0]} {own[1]})"]
        assert [sight["role"] for sight in over["blind"]["sights"]] == [0, 1]
    await two.request("goto", step=1)  # each looks back alone
    back = await two.until("state", lambda s: s["step"] == 1)
    assert back["asked"] == [] and back["blind"]["sights"][1]["guesses"] and back["looks"]
    kept = await (await client.get(f"/play/{at.table}/keep?form=record")).json()
    assert kept["percepts"][0] == [[f"( card {own[0]} )"], [f"( card {own[1]} )"], []]
    assert read_match(kept).goals
    # Both want another match: sides are swapped.
    await two.request("again")
    await one.until("state", lambda s: s["offers"] == {"again": [1]})
    await one.request("again")
    again = await one.until("state", lambda s: not s["blind"]["over"] and s["step"] == 1)
    assert (again["persons"], again["blind"]["as"]) == ([1, 0, None], 1)


async def test_sides_are_swapped_after_the_end_and_everybody_keeps_the_own_seat(client: Client) -> None:
    one = await opened(client, game="kuhn", seats=["human", "legal"], playclock=0.1)
    await move(one, await one.until("state", lambda s: s["asked"] != []))
    state = await one.until("state", lambda s: s["over"] or (s["step"] > 1 and s["asked"] != []))
    if not state["over"]:
        await move(one, state)
        await one.until("state", lambda s: s["over"])
    await one.request("swap")
    await one.request("again")
    state = await one.until("state", lambda s: not s["blind"]["over"] and s["step"] >= 1)
    assert state["seats"] == ["legal", "human", "random"] and state["blind"]["as"] == 1


async def test_those_who_watch_the_servers_tables_see_nothing_before_the_end(client: Client) -> None:
    one = await opened(client, game="montyhall", seats=["human"])
    await move(one, await one.until("state", lambda s: s["asked"] != []))
    state = await one.until("state", lambda s: s["step"] == 3)
    [match] = client.app[WATCHED].matches.values()
    assert match.moves == [] and match.fields["answers"] == []
    assert "car" not in match.board["svg"].replace("card", "")
    await move(one, state, "switch")
    await one.until("state", lambda s: s["over"])
    assert len(match.moves) == 4 and match.why in ("done: candidate 0", "done: candidate 100")
    assert any("hide" in joint[1] for joint in match.moves)


async def test_who_looks_on_is_told_nothing_of_a_free_seat(client: Client) -> None:
    one = await opened(client, game="kuhn", seats=["human", "human"])
    at = outside(one)
    await move(one, await one.until("state", lambda s: s["asked"] != []), "bet")
    await one.until("state", lambda s: s["step"] == 2)
    heard: list[str] = []

    def keep(state: dict[str, Any]) -> bool:
        heard.append(f"{state['beside']} {state['blind']}")
        return bool(state["step"] == 2)

    await at.until("state", keep)
    assert heard and {words.split("'as'")[0] for words in heard} == {"[] {'over': False, "}


async def test_a_hint_comes_from_what_the_own_role_knows_and_goes_to_it_alone(client: Client) -> None:
    one = await opened(client, game="montyhall", seats=["human"])
    await move(one, await one.until("state", lambda s: s["asked"] != []))
    await one.until("state", lambda s: s["step"] == 3)
    await one.request("hint", role="candidate")
    assert (await one.until("hint"))["move"] == "switch"


ASKED = [*REQUESTS, "keep", "nothing"]
SERVERS = {"show", "keep", "sit"}
BEFORE = {"move", "hint", "resign", "draw", "decline", "pause", "go", "seat", "swap"}
PHASES = {
    "before": BEFORE,
    "playing": BEFORE - {"seat", "swap"},
    "over": {"back", "redo", "goto", "pause", "go", "seat", "swap", "again", "decline"},
}
ALONE = {"hint", "pause", "go", "seat", "swap", "redo"}
"""What a person may do only if no other one plays."""


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("name", ["kuhn", "blindtictactoe", "montyhall"])
def test_a_person_may_do_what_is_listed_and_nothing_else(name: str, phase: str) -> None:
    table = BlindTable(
        TableRequest(Game.load(name), ["human"] * 8, seed=1), Inbox(), lambda kind, **fields: None
    )
    roles = table._playing
    for person, role in enumerate(roles):
        table._company.sit(person, role)
    while (phase == "over" and not table._revealed) or (phase == "playing" and not table.match.steps):
        for role in {*roles} & {*table.match.waiting}:
            table.match.answer(role, Choice(table.match.options[role][0]))
        table._turn()
    first = table.roles[roles[0]]
    listed = PHASES[phase] - (ALONE if len(roles) > 1 else set())
    for person, may in ((OUTSIDE, SERVERS), (0, listed | SERVERS), (99, SERVERS)):
        for do in ASKED:
            refusal = table._refusal({"do": do, "role": first, "person": person})
            assert (not refusal) == (do in may), (person, do)
    other = {"do": "move", "role": table.roles[roles[-1]], "person": 0}
    assert bool(table._refusal(other)) == (phase == "over" or len(roles) > 1)


async def test_those_who_look_on_neither_deal_again_nor_stop_a_match_that_goes_on(client: Client) -> None:
    one = await opened(client, game="kuhn", seats=["human", "human"])
    at, two = outside(one), await sits(one, "second")
    dealt = await one.until("state", lambda s: s["asked"] != [])
    await two.until(
        "state", lambda s: s["blind"]["as"] == 1
    )  # a note is not repeated for those who come later
    for do in ("again", "pause", "go", "swap", "back", "show"):
        assert "look on" in (await at.request(do))["error"]
        assert "look on" in (await At(client, at.table, at.headers, "x" * 16).request(do))["error"]
    for do in ("again", "pause", "hint", "seat"):
        await two.request(do, **({"role": "second", "player": "uct"} if do in ("hint", "seat") else {}))
        assert (await two.until("note"))["text"]
    await move(one, dealt, "bet")
    told = await two.until("state", lambda s: s["asked"] != [])
    await move(two, told, "fold")
    over = await one.until("state", lambda s: s["over"])
    assert f"first {dealt['blind']['percepts'][0].split()[-1]}" in over["svg"] and not over["waits"]


def test_requests_that_are_refused_do_not_interrupt_a_player() -> None:
    inbox = Inbox()
    table = BlindTable(TableRequest(Game.load("kuhn"), ["human", "uct"]), inbox, lambda kind, **fields: None)
    for role in table.match.waiting:
        table.match.replace(role, "none")
    table.match.make()
    for do in ("again", "pause", "go", "seat", "swap", "back", "goto", "nothing"):
        inbox.put({"do": do, "person": OUTSIDE})
        assert not table._requests.urgent(), do
    inbox.put({"do": "pause", "person": 0})
    assert table._requests.urgent()


# --- In every game of hidden information that comes along, what the page sends to a role depends on nothing
# but the role's own moves and percepts, until the match is over
HIDDEN = [path.stem for path in installed_games() if hides(Game.load(path).rules)]
LONGEST = 40
"""Steps of a match that are looked at."""


class Matches:
    """Matches at one table, people on all chairs. They move at random, mostly by the first moves of their
    lists, so that histories come again."""

    def __init__(self, game: Game, seed: int = 1) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []
        order = TableRequest(game, ["human"] * 8, seed=seed)
        self.table = BlindTable(order, Inbox(), lambda kind, **fields: self.said.append((kind, fields)))
        for person, role in enumerate(self.table._playing):
            self.table._company.sit(person, role)
        self.table._adviser = dict.fromkeys(self.table._playing, cast("AttentiveSeat", None))
        self.rng = random.Random(seed)
        self.told = Told()

    def play(self) -> None:
        """One match: notes all that is sent to each chair, by what its role has done and perceived."""
        table, told = self.table, self.told
        table._again()
        steps = 0
        while not table._revealed and steps < LONGEST:
            self._note()
            for role in table._playing:
                if role in table.match.waiting:
                    moves = table.match.options[role]
                    move = moves[min(self.rng.randrange(len(moves)), self.rng.randrange(len(moves)))]
                    person = table._company.at[role]
                    table._obey({"do": "hint", "role": table.roles[role], "person": person})
                    self._note()
                    spelled = table.machine.rules.spell(table.machine.move(role, move))
                    table._obey({"do": "move", "role": table.roles[role], "move": spelled, "person": person})
                    self._note()
            if not table._revealed:
                table._turn()
            steps += 1
        if not table._revealed:
            table._obey({"do": "keep", "form": "record", "person": OUTSIDE})
            kind, fields = self.said[-1]
            told.note(kind, OUTSIDE, "before the end", orjson.dumps(fields), table.match.state.key)
        self.said.clear()

    def _note(self) -> None:
        """What has been said since the last time."""
        table = self.table
        histories = {
            table._company.at[role]: (tuple(belief.history), role in table.match.choices)
            for role, belief in table._beliefs.items()
        }
        for kind, fields in self.said:
            person = fields["to"]
            if kind == "state" and fields["blind"]["over"]:
                continue  # the match is over: all is told
            learnt = len(table.match.steps) if person == OUTSIDE else histories[person]
            self.told.note(kind, person, learnt, orjson.dumps(fields), table.match.state.key)
        self.said.clear()


@pytest.fixture
def advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several people may ask for hints here, which are the first legal move."""
    may = BlindTable._refusal
    monkeypatch.setattr(BlindTable, "_refusal", lambda table, one: one["do"] != "hint" and may(table, one))

    def first(table: BlindTable, player: object, role: int, deadline: float) -> Choice:
        moves = table.match.in_order(role)
        return Choice(moves[0], tuple(map(Candidate, moves)))

    monkeypatch.setattr(BlindTable, "_answer", first)


@pytest.mark.slow
@pytest.mark.usefixtures("advice")
@pytest.mark.parametrize("name", HIDDEN)
def test_two_histories_that_are_the_same_to_a_role_get_the_same_bytes_from_the_page(name: str) -> None:
    matches = Matches(Game.load(name))
    count = 3 if name in ("mastermind", "battleships") else 12
    for _ in range(count):
        matches.play()
    assert matches.told.compared > 0
    assert matches.told.differences == []


SECRET = """; say: (guess ?x) as guess ?x, the card is ?y where (card ?y)
    ; draw: cell * as card\n; draw: card * as card\n; ends: (card ?y) as it is ?y
    (role a) (role random) (n 1) (n 2) (init (cell 1 1 e)) (init (cell 1 2 e)) (init (cell 2 1 e))
    (init (cell 2 2 e)) (<= (next (cell ?x ?y ?t)) (true (cell ?x ?y ?t))) (init (step 0))
    (<= (legal random (deal ?x)) (true (step 0)) (n ?x)) (<= (legal random noop) (not (true (step 0))))
    (<= (legal a noop) (true (step 0))) (<= (legal a (guess ?x)) (not (true (step 0))) (n ?x))
    (<= (next (card ?x)) (does random (deal ?x))) (<= (next (card ?x)) (true (card ?x)))
    (<= (next (step 1)) (true (step 0))) (<= (next (step 2)) (true (step 1)))
    (<= (sees a go) (true (step 0))) (<= terminal (true (step 2))) (<= (goal a 50) (true (step 2)))"""


@pytest.mark.usefixtures("advice")
def test_no_hint_says_of_the_state_what_its_role_does_not_know() -> None:
    matches = Matches(Game("secret", SECRET))
    for _ in range(8):
        matches.play()
    assert matches.told.compared > 0
    assert matches.told.differences == []
