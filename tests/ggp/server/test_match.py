"""A match has a legal answer whatever its processes do: with processes that do what the test says."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ggp.protocol.messages import NO_MOVE, Play, Start
from ggp.server.admission import Remembered
from ggp.server.fork_servers import Spares
from ggp.server.match import MAX_RESTARTS, ServedMatch
from ggp.server.settings import MatchSettings
from ggp.server.status import Metrics
from players.processes.limits import BEHIND, USUAL, WAITS

CLOCK = 600
NO_PROCESS = 10**9
"""There are no processes with such ids."""
START = Start("m1", "me", "( role me )", CLOCK, CLOCK)


class FakeChild:
    """A :class:`ggp.processes.child.Child` that only notes what it is told."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.alive = True
        self.stopped = False
        self.messages: list[tuple[str, dict[str, Any]]] = []
        self.on_message: Callable[[dict[str, Any]], None] | None = None
        self.on_exit: Callable[[FakeChild], None] | None = None

    def send(self, do: str, **fields: Any) -> None:
        self.messages.append((do, fields))

    def kill(self) -> None:
        self.alive = False

    async def ended(self) -> None:
        self.alive = False

    async def end(self, seconds: float) -> None:
        self.alive = False

    # --- what the test has it do
    def says(self, kind: str, **fields: Any) -> None:
        assert self.on_message is not None
        self.on_message({"kind": kind, **fields})

    def dies(self) -> None:
        self.alive = False
        if self.on_exit is not None:
            self.on_exit(self)

    def names(self, turn: int, safe: str, joint: list[str] | None = None) -> None:
        self.says("options", id=turn, safe=safe, joint=joint, cpu=0.001)

    def answers(self, turn: int, move: str) -> None:
        self.says("move", id=turn, move=move, again=False)

    @property
    def last(self) -> tuple[str, dict[str, Any]]:
        return self.messages[-1]


class FakeSpare:
    """A :class:`ggp.server.fork_servers.Spare` of such processes."""

    def __init__(self) -> None:
        self.children: list[FakeChild] = []

    async def take(self) -> FakeChild:
        self.children.append(FakeChild(NO_PROCESS + len(self.children)))
        return self.children[-1]

    def give_back(self, child: FakeChild) -> bool:
        return False

    @property
    def now(self) -> FakeChild:
        return self.children[-1]


class MatchCase:
    """A match that has begun, and its processes."""

    def __init__(self) -> None:
        self.main, self.standby = FakeSpare(), FakeSpare()
        self.log: list[str] = []
        self.match = ServedMatch(
            START,
            MatchSettings(),
            Spares(self.main, self.standby),  # type: ignore[arg-type]
            lambda level, event, **fields: self.log.append(event),
            Metrics("0"),
            Remembered(),
        )

    async def begin(self) -> None:
        await self.match.begin(time.monotonic())
        await settle()
        self.main.now.says("ready", machine="prover")

    async def play(self, moves: tuple[str, ...] | None) -> asyncio.Task[str]:
        answer = asyncio.create_task(self.match.play(Play("m1", moves), time.monotonic()))
        await settle()
        return answer

    async def turn(self, number: int, moves: tuple[str, ...] | None, move: str) -> None:
        """A turn that the player answers."""
        answer = await self.play(moves)
        self.main.now.answers(number, move)
        assert await answer == move

    def time_is_up(self) -> None:
        """The watchdog looks."""
        turn = self.match._turn
        assert turn is not None
        self.match._watch(turn)


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.fixture
def case(loop: asyncio.Runner) -> Iterator[MatchCase]:
    """A match that has begun."""

    async def begin() -> MatchCase:
        made = MatchCase()
        await made.begin()
        return made

    made = loop.run(begin())
    yield made
    loop.run(made.match.close())


async def test_the_players_move_is_the_answer(case: MatchCase) -> None:
    answer = await case.play(None)
    case.standby.now.names(1, "a")
    case.main.now.names(1, "b")
    case.main.now.answers(1, "c")
    assert await answer == "c"


@pytest.mark.parametrize("who", ["main", "standby"])
async def test_the_watchdog_answers_with_the_safe_move_of_whoever_is_left(case: MatchCase, who: str) -> None:
    answer = await case.play(None)
    other = case.standby if who == "main" else case.main
    other.now.dies()
    getattr(case, who).now.names(1, "safe")
    case.time_is_up()
    assert await answer == "safe"


async def test_a_legal_move_that_comes_after_the_watchdog_has_looked_is_answered_at_once(
    case: MatchCase,
) -> None:
    await case.turn(1, None, "legal in turn 1")
    answer = await case.play(("x", "y"))
    case.time_is_up()
    await settle()
    assert not answer.done()
    case.standby.now.names(2, "legal in turn 2", ["x", "y"])
    assert await answer == "legal in turn 2"


async def test_with_no_legal_move_in_the_end_no_old_one_is_the_answer(case: MatchCase) -> None:
    await case.turn(1, None, "a")
    answer = await case.play(("x", "y"))
    case.time_is_up()
    case.time_is_up()
    assert await answer == NO_MOVE


@pytest.mark.parametrize("when", ["before", "after the watchdog has looked"])
async def test_where_processes_lag_what_they_found_legal_one_turn_before_is_the_answer(
    case: MatchCase, when: str
) -> None:
    """A standby that is late has looked at the reported joint move while it waited."""
    replies = [(["(mark 1 1)", "y"], "first"), (["z", "y"], "second")]
    await case.turn(1, None, "a")
    if when == "before":
        case.standby.now.says("foreseen", id=1, replies=replies, guess="second")
    answer = await case.play(("( MARK 1  1 )", "y"))
    case.time_is_up()
    await settle()
    if when != "before":
        assert not answer.done()
        case.standby.now.says("foreseen", id=1, replies=replies[1:], guess="second")
        await settle()
        assert not answer.done()
        case.standby.now.says("foreseen", id=1, replies=replies[:1], guess="second")
    assert await answer == "first"


async def test_who_is_lost_in_the_first_turn_has_said_what_is_legal_then(case: MatchCase) -> None:
    case.standby.now.says("foreseen", id=0, replies=[(None, "first")], guess="first")
    case.standby.now.dies()
    answer = await case.play(None)
    case.time_is_up()
    assert await answer == "first"


async def test_what_was_found_for_another_turn_is_no_answer(case: MatchCase) -> None:
    await case.turn(1, None, "a")
    case.standby.now.says("foreseen", id=1, replies=[(["x", "y"], "old")], guess="old")
    await case.turn(2, ("x", "y"), "b")
    answer = await case.play(("b", "y"))
    case.standby.now.says("foreseen", id=1, replies=[(["b", "y"], "old")], guess="old")
    case.time_is_up()
    case.time_is_up()
    assert await answer == NO_MOVE


@pytest.mark.parametrize("who", ["main", "standby"])
@pytest.mark.parametrize("how", ["dies", "is stopped"])
async def test_a_lost_process_is_replaced_and_told_where_the_match_stands(
    case: MatchCase, who: str, how: str
) -> None:
    source: FakeSpare = getattr(case, who)
    first = await case.play(None)
    case.main.now.names(1, "a")
    case.main.now.answers(1, "a")
    await first
    lost = source.now
    if how == "dies":
        lost.dies()
    else:
        lost.stopped = True
    answer = await case.play(("a", "b"))
    assert not lost.alive
    assert len(source.children) == 2
    (start, terms), (play, turn) = source.now.messages
    assert (start, play) == ("start", "play")
    assert terms["history"] == []
    assert (turn["id"], turn["moves"], turn["answered"], turn["advanced"]) == (2, ("a", "b"), "a", False)
    # Once somebody has made the moves, they are history for those who come later.
    (case.standby if who == "main" else case.main).now.names(2, "c", ["a", "b"])
    source.now.dies()
    await settle()
    (_, terms), (_, turn) = source.now.messages
    assert terms["history"] == [("a", "b")]
    assert turn["advanced"]
    source.now.names(2, "c")
    case.main.now.answers(2, "d")
    assert await answer == "d"


async def test_processes_that_die_again_and_again_are_tried_once_a_turn(case: MatchCase) -> None:
    answer = await case.play(None)
    case.standby.now.names(1, "a")
    for _ in range(MAX_RESTARTS + 1):
        case.main.now.dies()
        await settle()
    assert len(case.main.children) == MAX_RESTARTS + 1
    assert not case.main.children[-1].messages[0][1]["fast"]
    case.time_is_up()
    assert await answer == "a"
    await case.play(("a", "b"))
    assert len(case.main.children) == MAX_RESTARTS + 2


async def test_a_play_sent_again_is_answered_again_even_without_the_one_that_thinks(case: MatchCase) -> None:
    await case.turn(1, None, "a")
    case.main.now.dies()
    again = await case.play(None)
    case.standby.now.says("move", id=2, move="a", again=True)
    assert await again == "a"
    assert case.match.history.moves == {}


async def test_a_process_that_is_behind_takes_no_move_back_from_those_who_look_on(case: MatchCase) -> None:
    first = await case.play(None)
    case.main.now.names(1, "a")
    case.main.now.answers(1, "a")
    assert await first == "a"
    second = await case.play(("a", "x"))
    case.main.now.names(2, "b", ["a", "x"])
    await settle()
    assert case.match.news.snapshot()["moves"] == [["a", "x"]]
    case.standby.now.names(1, "a")
    await settle()
    assert case.match.news.snapshot()["moves"] == [["a", "x"]]
    case.main.now.answers(2, "b")
    assert await second == "b"


async def test_shares_are_told_when_they_change_and_to_those_who_come_later(case: MatchCase) -> None:
    case.match.share(2, True, False)
    assert case.main.now.last == ("share", {"workers": 2, "ponder": True, "behind": False})
    before = len(case.main.now.messages)
    case.match.share(2, True, False)
    assert len(case.main.now.messages) == before
    case.match.share(1, False, True)
    case.main.now.dies()
    await settle()
    assert case.main.now.messages[0][1]["share"] == {"workers": 1, "ponder": False, "behind": True}


async def test_a_move_named_before_the_turn_is_followed_to_its_end_is_the_answer(case: MatchCase) -> None:
    """A standby with many states to go through names a move that is legal in the first that fits."""
    answer = await case.play(None)
    assert case.match._turn is not None
    case.match._watch(case.match._turn)
    case.standby.now.says("safe", id=0, safe="old")
    await settle()
    assert not answer.done()
    case.standby.now.says("safe", id=1, safe="a")
    assert await answer == "a"
    case.standby.now.names(1, "b")
    assert case.standby.now is case.standby.children[0]


async def test_who_thinks_rests_until_a_move_is_known_and_does_not_without_a_standby(case: MatchCase) -> None:
    ranks: list[int] = []
    case.match._main.rank = ranks.append  # type: ignore[method-assign]
    case.match.share(1, False, True)
    case.match.check(case.match.waits)
    await case.play(None)
    assert case.match.waits
    case.standby.now.says("safe", id=1, safe="a")
    case.match.check(case.match.waits)
    case.standby.now.dies()
    case.match.check(True)
    assert ranks == [WAITS, BEHIND, WAITS, USUAL]
    case.match.share(1, False, False)
    case.standby.now.names(1, "a")
    case.match.check(False)
    assert ranks[-1] == USUAL


async def test_an_end_tells_the_waiting_manager_what_is_known(case: MatchCase) -> None:
    answer = await case.play(None)
    case.standby.now.names(1, "a")
    await case.match.close()
    assert await answer == "a"
    assert not case.main.now.alive
    assert not case.standby.now.alive
