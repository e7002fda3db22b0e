"""PLAYs of somebody else between the true ones of a match of hidden information: what is answered to the true
ones is legal."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bench.soak.game_manager import KINDS, blind_junk
from gdl.errors import GdlError, ParseError
from gdl.syntax.parser import parse_term
from ggp.match_process import blind_match
from ggp.match_process.blind_match import BlindMatch
from ggp.protocol.messages import NO_MOVE, Play, parse_message, read_told
from players.belief.belief import Belief, Observed
from tests.ggp.match_process.test_blind_match import prover_of

GAMES = ("montyhall", "kuhn", "blindtictactoe", "leduc", "liarsdice")
Told = tuple[str, ...] | None


@cache
def vocabulary(name: str, role: int) -> tuple[list[str], list[str]]:
    """Moves and percepts that the role has in some random matches, in text."""
    prover, rng = prover_of(name), random.Random(1)
    moves, percepts = set(), set()
    for _ in range(20):
        state = prover.initial_state()
        while not prover.is_terminal(state):
            joint = [rng.choice(options) for options in prover.options(state)]
            moves.add(str(prover.move(role, joint[role])))
            percepts |= set(map(str, prover.percepts(state, joint)[role]))
            state = prover.next_state(state, joint)
    return sorted(moves), sorted(percepts)


class TruePlay(NamedTuple):
    """A PLAY of the true manager, and what the role knew before."""

    before: Belief
    own: str | None
    percepts: tuple[str, ...]

    def told(self, numbered: bool, turn: int) -> Told:
        return Play("m", self.percepts or None, turn if numbered else None, self.own).told


class Truth:
    """A match as it is, with what was told of it."""

    def __init__(self, name: str, role: int, seed: int) -> None:
        self.machine, self.role, self.rng = prover_of(name), role, random.Random(seed)
        self.state = self.machine.initial_state()
        self.belief = Belief(self.machine, role)
        self.plays = [TruePlay(self.belief.copy(), None, ())]

    def legal(self) -> set[str]:
        moves = self.machine.legal_moves(self.state, self.role)
        return {str(self.machine.move(self.role, move)) for move in moves}

    def make(self, own: str) -> bool:
        """Make this move and others at random; whether the match goes on."""
        joint = [self.rng.choice(options) for options in self.machine.options(self.state)]
        joint[self.role] = self.machine.move_id(self.role, parse_term(own))
        seen = self.machine.percepts(self.state, joint)[self.role]
        self.state = self.machine.next_state(self.state, joint)
        if self.machine.is_terminal(self.state):
            return False
        self.plays.append(TruePlay(self.belief.copy(), own, tuple(map(str, seen))))
        self.belief.update(Observed(parse_term(own), seen))
        return True

    def could_be_told(self, told: Told, numbered: bool) -> bool:
        """Whether a PLAY might have been a true one in place of one told before, as far as the role knows:
        nobody can tell the two apart."""
        text = told or ()
        if (read_told(text)[0] is not None) != numbered:
            return False
        for turn, play in enumerate(self.plays):
            percepts = text
            if numbered:
                if text[0] != f"turn {turn}" or text[1] != (play.own or NO_MOVE):
                    continue
                percepts = text[2:]
            if not percepts and turn == 0:
                return True
            try:
                seen = frozenset(map(parse_term, percepts))
                move = None if play.own is None else parse_term(play.own)
                if play.before.copy().update(Observed(move, seen)):
                    return True
            except GdlError:
                continue
        return False


class Server:
    """One process that follows a match, and what a server keeps for the next one."""

    def __init__(self, truth: Truth) -> None:
        self.truth = truth
        self.answer: str | None = None
        self.rows: list[tuple[tuple[str, ...], str | None]] = []
        self.log: list[str] = []
        self.match = self._process()

    def _process(self) -> BlindMatch:
        return BlindMatch(self.truth.machine, self.truth.role, lambda *said, **_: self.log.append(str(said)))

    def ask(self, told: Told) -> str:
        """The answer to a PLAY: any that the process takes for legal."""
        self.log.append(f"answered {self.answer}, told {told}")
        if self.match.follow(told, self.answer, True, False) and self.match.history:
            self.rows.append((self.match.history[-1], self.answer))
        return self._answer()

    def replaced(self, told: Told) -> str:
        """The same of another process, which comes while the PLAY waits for its answer."""
        self.log.append("another process")
        self.match = self._process()
        self.match.replay([row for row, _ in self.rows], [answer for _, answer in self.rows])
        self.match.resume(told)
        return self._answer()

    def _answer(self) -> str:
        options = self.match.options()
        move = self.truth.rng.choice(options) if options else None
        self.answer = NO_MOVE if move is None else self.match.text(self.truth.role, move)
        return self.answer


@st.composite
def junk(draw: st.DrawFn, name: str, role: int, turn: int) -> Told:
    """What a PLAY of somebody else tells when the true manager is about to tell of this turn."""
    if draw(st.booleans()):
        text = blind_junk(draw(st.sampled_from(KINDS)), turn, random.Random(draw(st.integers(0, 99))))
        try:
            message = parse_message(f"( PLAY m {text} )")
        except ParseError:
            assume(False)
        assert isinstance(message, Play)
        return message.told
    moves, percepts = vocabulary(name, role)
    number = draw(st.none() | st.integers(max(0, turn - 2), turn + 2))
    seen = draw(st.lists(st.sampled_from([*percepts, "thunder"]), max_size=2, unique=True))
    return Play("m", tuple(seen) or None, number, draw(st.sampled_from([None, *moves]))).told


@pytest.fixture(scope="module", autouse=True)
def no_hurry() -> Iterator[None]:
    """What is tried must not depend on how busy this computer is."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blind_match, "SECONDS", 60.0)
        yield


def somebody_elses(truth: Truth, told: Told, numbered: bool) -> bool:
    """Whether this is not what the true manager tells next, and that can be known then at the latest."""
    turn = len(truth.plays) - 1
    if told == truth.plays[-1].told(numbered, turn):
        return False
    # Numbers tell the true PLAY of a turn from any that came before.
    due = numbered and told is not None and told[0] == f"turn {turn}"
    return due or not truth.could_be_told(told, numbered)


@settings(max_examples=100, deadline=None)
@given(st.data(), st.sampled_from(GAMES), st.booleans(), st.integers(0, 10**6))
def test_every_answer_to_a_true_play_is_legal_whatever_others_send_between(
    data: st.DataObject, name: str, numbered: bool, seed: int
) -> None:
    """Also where the process that follows the match is replaced now and then."""
    roles = [role for role, term in enumerate(prover_of(name).roles) if str(term) != "random"]
    truth = Truth(name, data.draw(st.sampled_from(roles)), seed)
    server = Server(truth)
    on, doubted = True, False
    while on:
        turn = len(truth.plays) - 1
        for told in data.draw(st.lists(junk(name, truth.role, turn), max_size=2)):
            if somebody_elses(truth, told, numbered):
                server.ask(told)
                doubted |= not turn
        told = truth.plays[-1].told(numbered, turn)
        answer = server.ask(told)
        # No process that comes later is told of what came before the first turn.
        if not doubted and data.draw(st.booleans()):
            answer = server.replaced(told)
        assert answer in truth.legal(), server.log
        on = truth.make(answer)


@pytest.mark.parametrize(
    "first", ["0 NIL NIL", "7 NIL NIL", "1000 (nonsense 1) (thunder)", "0 (f ?x) NIL", "(?x)"]
)
@pytest.mark.parametrize("numbered", [False, True])
def test_a_match_may_begin_with_nonsense(first: str, numbered: bool) -> None:
    truth = Truth("blindtictactoe", 0, 1)
    server = Server(truth)
    message = parse_message(f"( PLAY m {first} )")
    assert isinstance(message, Play)
    server.ask(message.told)
    on = True
    while on:
        answer = server.ask(truth.plays[-1].told(numbered, len(truth.plays) - 1))
        assert answer in truth.legal()
        on = truth.make(answer)
    assert server.match.observed == tuple(truth.belief.history)


@pytest.mark.parametrize("numbered", [False, True])
def test_a_play_of_more_percepts_than_could_be_read_in_time_is_somebody_elses(
    monkeypatch: pytest.MonkeyPatch, numbered: bool
) -> None:
    truth = Truth("blindtictactoe", 0, 1)
    server = Server(truth)
    assert truth.make(server.ask(truth.plays[0].told(numbered, 0)))
    percepts = tuple(f"(p {number})" for number in range(20_000))
    huge = Play("m", percepts, 1 if numbered else None, server.answer).told
    with monkeypatch.context() as patch:
        patch.setattr(blind_match, "parse_term", lambda text: pytest.fail(f"{text} was read"))
        assert not server.match.can_be(huge)
    server.ask(huge)
    server.replaced(huge)
    assert server.match.reported(huge) and len(server.match.history) == 1
    assert server.ask(truth.plays[1].told(numbered, 1)) in truth.legal()
    assert server.match.observed == tuple(truth.belief.history)


def test_players_are_told_of_no_move_that_their_role_never_has() -> None:
    truth = Truth("kuhn", 0, 1)
    server = Server(truth)
    server.ask(Play("m", None, 0, None).told)
    server.ask(Play("m", ("(card king)",), 1, "(nonsense 1)").told)
    assert [seen.move for seen in server.match.observed] == [None]


def test_a_play_takes_no_longer_the_more_beliefs_it_might_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """After its time no further belief is tried."""
    truth = Truth("blindtictactoe", 0, 1)
    server = Server(truth)
    for _ in range(6):
        answer = server.ask(truth.plays[-1].told(False, 0))
        assert truth.make(answer)
    monkeypatch.setattr(blind_match, "SECONDS", 0.0)
    calls: list[object] = []
    usual = Belief.update

    def counting(self: Belief, *args: Any) -> bool:
        calls.append(args)
        return usual(self, *args)

    monkeypatch.setattr(Belief, "update", counting)
    server.ask(("ok", "tie"))
    assert len(calls) == 1
