"""PLAYs that cannot be, between turns and while a turn is thought about: every reply stays legal."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from ggp.game import Game
from ggp.protocol import messages
from tests.ggp.server.live import Serve, eventually

STEPS = 12
WAYS = (
    "(role me) (role other) (init (at 0)) (kind a) (kind b) (legal other pass)"
    " (<= (legal me (go ?n ?k)) (true (at ?n)) (kind ?k))"
    " (<= (next (at ?m)) (does me (go ?n a)) (after ?n ?m))"
    " (<= (next (at ?o)) (does me (go ?n b)) (after ?n ?m) (after ?m ?o))"
    f" (<= terminal (true (at {STEPS}))) (goal me 100) (goal other 0)"
) + "".join(f" (after {n} {n + 1})" for n in range(STEPS + 1))
"""A move says where the match stands, and what was played decides where it goes: an answer for another state
is seen to be illegal."""

JUNK = {
    "too few moves": lambda at: f"((go {at} a))",
    "too many moves": lambda at: f"((go {at} a) pass pass)",
    "no terms": lambda at: "((?x go) (()))",
    "moves that are not legal": lambda at: f"((go {at + 5} a) pass)",
    "another player's move is not legal": lambda at: f"((go {at} a) fly)",
    "another move of the turn before": lambda at: f"((go {max(0, at - 1)} b) pass)",
    "a turn long ago": lambda at: "((go 0 a) pass)" if at > 2 else "((go 9 a) pass)",
    "no moves": lambda at: "NIL",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", JUNK)
def test_what_cannot_be_is_answered_without_going_on(serve: Serve, kind: str) -> None:
    server = serve().begun("m1", "me", 30, 30, WAYS)
    moves = "NIL"
    for at in range(STEPS - 1):
        assert server.say(f"( PLAY m1 {moves} )") == f"(go {at} a)"
        reply = server.say(f"( PLAY m1 {JUNK[kind](at)} )")
        assert reply == f"(go {at} a)" or "before" in kind
        moves = f"((go {at} a) pass)"
    assert server.say(f"( STOP m1 {moves} )") == "done"


DOORS = ["(choose 1)", "(choose 2)", "(choose 3)"]
HIDDEN_JUNK = {
    "percepts that nobody has": "{turn} (choose 1) (thunder (nonsense 1))",
    "percepts that are not terms": "{turn} noop (?x (()))",
    "a turn far ahead": "{ahead} (choose 2) ()",
    "a turn long ago": "0 NIL NIL",
    "a move that it never has": "{turn} (fly away) ()",
    "no percepts": "{turn} noop",
    "too much": "{turn} noop () () ()",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", HIDDEN_JUNK)
def test_what_cannot_be_of_a_hidden_match_gets_a_legal_move_in_time(serve: Serve, kind: str) -> None:
    """Before each turn nonsense is told in its place: then the turn as it was, and every reply to that is
    legal."""
    game = Game.load("montyhall")
    server = serve().begun("m1", "candidate", 30, 10, game.text)
    doors = set(DOORS)
    turns = [
        ("NIL NIL", {"noop"}),
        ("noop ()", doors),
        ("{own} ()", {"noop"}),
        ("noop ((opened {other}))", {"stay", "switch"}),
    ]
    own = ""
    for turn, (told, legal) in enumerate(turns):
        if turn:
            began = time.monotonic()
            reply = server.say(f"( PLAY m1 {HIDDEN_JUNK[kind].format(turn=turn, ahead=turn + 1000)} )")
            assert reply in {"noop", "stay", "switch"} | doors or reply.startswith("error")
            assert time.monotonic() - began < 10
        other = 1 if own != "(choose 1)" else 2
        reply = server.say(f"( PLAY m1 {turn} {told.format(own=own, other=other)} )")
        assert reply in legal, f"turn {turn}: {reply}"
        own = reply if turn == 1 else own
    assert server.say(f"( STOP m1 4 {reply} () )") == "done"


@pytest.mark.slow
@pytest.mark.parametrize("numbered", [False, True])
@pytest.mark.parametrize("first", [*HIDDEN_JUNK.values(), "((opened 1))"])
def test_a_hidden_match_that_begins_with_what_cannot_be_goes_on(
    serve: Serve, first: str, numbered: bool
) -> None:
    game = Game.load("montyhall")
    server = serve().begun("m1", "candidate", 30, 10, game.text)
    server.say(f"( PLAY m1 {first.format(turn=0, ahead=1000)} )")
    own, door = None, ""
    for turn, seen in enumerate(([], [], [], ["(opened {other})"])):
        percepts = [percept.format(other=1 if door != "(choose 1)" else 2) for percept in seen]
        own = server.say(messages.blind_request("PLAY", "m1", turn, own, percepts, numbered=numbered))
        door = own if turn == 1 else door
        assert own in (["noop"], DOORS, ["noop"], ["stay", "switch"])[turn]


@pytest.mark.slow
@pytest.mark.parametrize("numbered", [False, True])
def test_a_hidden_turn_that_is_thought_about_is_disturbed_by_nothing_that_cannot_be(
    serve: Serve, numbered: bool
) -> None:
    game = Game.load("montyhall")
    server = serve(player="slow_players:Punctual", margin=1.0).begun("m1", "candidate", 30, 5, game.text)
    match = server.server.running[0]
    own: str | None = None
    for turn, legal in enumerate((["noop"], DOORS, ["noop"])):
        asked = messages.blind_request("PLAY", "m1", turn, own, [], numbered=numbered)
        # Nonsense may have been taken for turns of its own.
        before = 0 if match._turn is None else match._turn.id
        with ThreadPoolExecutor(len(HIDDEN_JUNK)) as clients:
            answer = clients.submit(server.say, asked)
            eventually(lambda before=before: match._turn is not None and match._turn.id > before)  # type: ignore[misc]
            junk = [text.format(turn=turn, ahead=turn + 1000) for text in HIDDEN_JUNK.values()]
            list(clients.map(server.say, [f"( PLAY m1 {text} )" for text in junk]))
        own = answer.result()
        assert own in legal


@pytest.mark.slow
def test_a_turn_that_is_thought_about_is_not_disturbed(serve: Serve) -> None:
    server = serve(player="slow_players:Punctual", margin=1.0).begun("m1", "me", 30, 3, WAYS)
    match = server.server.running[0]
    moves = "NIL"
    for turn, at in enumerate((0, 2, 4), 1):
        with ThreadPoolExecutor(len(JUNK)) as clients:
            answer = clients.submit(server.say, f"( PLAY m1 {moves} )")
            eventually(lambda turn=turn: match._turn is not None and match._turn.id == turn)  # type: ignore[misc]
            junk = [JUNK[kind](at) for kind in JUNK if "before" not in kind]
            replies = list(clients.map(server.say, [f"( PLAY m1 {moves} )" for moves in junk]))
        # The player answers with the last of its moves after all of its time.
        assert answer.result() == f"(go {at} b)"
        assert {*replies} <= {f"(go {at} a)", f"(go {at} b)"}
        moves = f"((go {at} b) pass)"


def test_a_report_that_is_legal_in_the_state_before_puts_the_match_right(serve: Serve) -> None:
    server = serve().begun("m1", "me", 30, 30, WAYS)
    assert server.say("( PLAY m1 NIL )") == "(go 0 a)"
    assert server.say("( PLAY m1 ((go 0 b) pass) )") == "(go 2 a)"
    assert server.say("( PLAY m1 ((go 0 a) pass) )") == "(go 1 a)"
    assert server.say("( PLAY m1 ((go 1 b) pass) )") == "(go 3 a)"
    assert server.say("( PLAY m1 ((go 1 b) pass) )") == "(go 3 a)"
