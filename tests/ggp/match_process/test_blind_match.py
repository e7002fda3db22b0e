"""Following a match of hidden information by what one role is told, whatever others send between."""

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
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_term
from ggp.game import Game
from ggp.match_process import blind_match
from ggp.match_process.blind_match import BlindMatch
from ggp.protocol.messages import NO_MOVE, Play, parse_message, read_told
from players.belief.belief import Belief, Observed

Told = tuple[str, ...] | None


@cache
def prover_of(name: str) -> ProverMachine:
    return ProverMachine(Game.load(name).rules)


def begun(name: str = "montyhall", turns: int = 0) -> tuple[BlindMatch, list[str]]:
    """A match of the first role that was told of so many turns in which nothing happened."""
    events: list[str] = []
    match = BlindMatch(prover_of(name), 0, lambda level, event, **fields: events.append(event))
    for turn in range(turns):
        own = "noop" if turn else None
        match.follow(numbered(turn, own), own, True, False)
    return match, events


def numbered(turn: int, own: str | None, *percepts: str) -> Told:
    return Play("m", percepts, turn, own).told


def legal(match: BlindMatch) -> set[str]:
    return {match.text(match.role, move) for move in match.options()}


@pytest.mark.parametrize("first", [0, 1])
def test_numbered_turns_are_followed_and_repetitions_are_seen(first: int) -> None:
    match, events = begun()
    assert match.follow(numbered(first, None), None, True, False)
    assert not match.follow(numbered(first, None), "noop", True, False)
    turn = numbered(first + 1, "noop")
    assert match.follow(turn, "noop", True, False)
    assert not match.follow(turn, "(choose 1)", True, False)
    assert legal(match) == {"(choose 1)", "(choose 2)", "(choose 3)"}
    assert match.follow(numbered(first + 2, "(choose 2)"), "(choose 1)", True, False)
    assert match.follow(numbered(first + 3, "noop", "(opened 1)"), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert len(match.belief) == 2 and events == ["another move than ours"]
    assert str(match.observed[1].move) == "(choose 2)"  # the manager's word counts


def test_a_move_in_place_of_an_illegal_answer_is_not_doubted() -> None:
    """Whoever doubts it looks at all ways that the match may have gone, in each turn from then on."""
    match, events = begun()
    match.follow(numbered(0, None), None, True, False)
    match.follow(numbered(1, "noop"), "nil", True, False)
    assert match.follow(numbered(2, "(choose 2)"), "(choose 9)", True, False)
    assert match.follow(numbered(3, "noop", "(opened 1)"), "noop", True, False)
    assert not events and match._now.doubt == 0


def test_the_first_state_that_fits_comes_before_the_rest_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    match, events = begun("mastermind", 5)
    asked, firsts = 0, []
    perceives = match.machine.perceives

    def counted(*question: Any) -> bool:
        nonlocal asked
        asked += 1
        return perceives(*question)

    monkeypatch.setattr(match.machine, "perceives", counted)
    match.on_first = lambda state: firsts.append((asked, state))
    guess = "(guess red red orange orange)"
    seen = [numbered(5, guess, "(black 1)", "(white 0)"), numbered(6, guess, "(black 4)", "(white 4)")]
    assert match.follow(seen[0], guess, True, False)
    assert len(match.belief) == 256 and asked == 1296
    ((early, state),) = firsts
    assert early < asked / 4 and state in match.belief.states()
    assert match.machine.legal_moves(state, 0) == match.options()
    assert match.follow(seen[1], guess, True, False)
    assert len(firsts) == 1 and events == ["percepts that fit no state"]


@pytest.mark.parametrize("nothing", [None, ()])
def test_bare_percepts_are_followed_by_our_own_answers(nothing: Told) -> None:
    match, events = begun()
    assert match.follow(None, None, True, False)
    assert match.follow(nothing, "noop", True, False)
    assert match.follow(nothing, "(choose 3)", True, False)
    assert match.follow(("(opened 1)",), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert sorted(match.belief.weights.round(3)) == [0.333, 0.667]
    assert not match.follow(("(opened 1)",), "switch", False, False)  # our answer never left
    assert not events


def test_an_answer_that_came_late_may_have_been_replaced() -> None:
    for late, possible in ((False, 3), (True, 9)):
        match, _ = begun()
        match.follow(None, None, True, False)
        match.follow((), "noop", True, False)
        match.follow(("(opened 1)",), "(choose 3)", True, late)
        assert len(match.belief) == possible  # that percept cannot be, so nothing is known of the doors
        assert match.options()


@pytest.mark.parametrize(
    ("told", "event"),
    [
        (numbered(2, "(choose 1)", "thunder"), "percepts that fit no state"),
        (numbered(2, "(fly away)"), "percepts that fit no state"),
        (numbered(2, "(choose 1)", "(opened"), "percepts that are not terms"),
        (numbered(2, "(choose 1)", "?x"), "percepts that are not terms"),
        (numbered(9, "(choose 1)"), "a wrong turn number"),
        (numbered(1, "noop", "(opened 2)"), "percepts that fit no state"),
    ],
)
def test_nonsense_is_logged_and_a_legal_move_stays_known(told: Told, event: str) -> None:
    match, events = begun(turns=2)
    match.follow(told, "(choose 1)", True, False)
    assert event in events
    assert match.options()
    match.follow(numbered(3, "noop"), "noop", True, False)
    assert match.options()


def test_a_match_is_resumed_from_its_history() -> None:
    match, _ = begun()
    match.follow(numbered(1, None), None, True, False)
    match.follow(numbered(2, "noop"), "noop", True, False)
    match.follow(numbered(3, "(choose 2)"), "(choose 2)", True, False)
    resumed, _ = begun()
    resumed.replay(match.history, ["noop", "(choose 2)"])
    assert resumed.resume(numbered(3, "(choose 2)"))
    assert resumed.observed == match.observed
    assert resumed.follow(numbered(4, "noop", "(opened 1)"), "noop", True, False)
    assert legal(resumed) == {"stay", "switch"}


@pytest.mark.parametrize(
    "junk",
    [
        numbered(1000, "(nonsense 1)", "thunder"),
        numbered(7, "(choose 1)"),
        numbered(2, "(fly away)"),
        numbered(2, "(choose 3)", "(opened 3)"),
        numbered(2, "(choose 1)", "?x"),
    ],
)
def test_a_doubtful_turn_gives_way_to_the_one_that_is_so(junk: Told) -> None:
    match, events = begun(turns=2)
    assert match.follow(junk, "(choose 2)", True, False)
    assert match.options()
    assert match.follow(numbered(2, "(choose 2)"), "stay", True, False)
    assert events[-1] == "earlier PLAYs came from another sender"
    assert match.follow(junk, "noop", True, False)  # once more: it gives way as before
    assert match.follow(numbered(3, "noop", "(opened 1)"), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert sorted(match.belief.weights.round(3)) == [0.333, 0.667]
    assert len(match.history) == 3
    # A process that comes later is told of both.
    clean = match.history
    resumed, _ = begun()
    resumed.replay([clean[0], ("turn 2", "(fly away)", "thunder"), *clean[1:]])
    assert resumed.observed == match.observed
    assert sorted(resumed.belief.weights.round(3)) == [0.333, 0.667]


@pytest.mark.parametrize("junk", [("?x",), ("thunder",), ("(opened 1)", "(opened 2)")])
def test_bare_percepts_that_fit_no_state_give_way_to_those_that_do(junk: Told) -> None:
    match, _ = begun()
    match.follow(None, None, True, False)
    match.follow((), "noop", True, False)
    assert match.follow(junk, "(choose 2)", True, False)
    assert match.follow((), "stay", True, False)
    assert match.follow(("(opened 1)",), "noop", True, False)
    assert legal(match) == {"stay", "switch"}
    assert sorted(match.belief.weights.round(3)) == [0.333, 0.667]
    assert len(match.history) == 3 and str(match.observed[1].move) == "(choose 2)"
    resumed, _ = begun()
    resumed.replay([(), junk, (), ("(opened 1)",)], ["noop", "(choose 2)", "stay", "noop"])
    assert resumed.observed == match.observed


def test_percepts_that_fit_none_of_some_worlds_only_stay() -> None:
    match, _ = begun()
    match.follow(None, None, True, False)
    match.belief.exact = False
    match.follow((), "noop", True, False)
    match.follow(("(opened 1)", "(opened 2)"), "(choose 2)", True, False)
    match.follow(("(opened 1)",), "stay", True, False)
    assert len(match.history) == 3


@pytest.mark.parametrize("bare", [False, True])
def test_turns_of_two_managers_in_two_dialects_are_followed_side_by_side(bare: bool) -> None:
    match, _ = begun()
    turns = [
        numbered(0, None),
        numbered(1, "noop"),
        numbered(2, "(choose 2)"),
        numbered(3, "noop", "(opened 1)"),
    ]
    others = [None, (), (), ("(opened 1)",)]
    told, strange = (others, turns) if bare else (turns, others)
    for turn, answer, other in zip(told, [None, "noop", "(choose 2)", "noop"], strange, strict=True):
        for one in (other, turn):
            assert match.follow(one, answer, True, False)
    assert legal(match) == {"stay", "switch"} and len(match.history) == 3


def test_a_turn_that_cannot_be_is_not_taken_back_twice() -> None:
    """After the last turn no state follows; what comes then is forgotten without what came before."""
    match, events = begun(turns=2)
    match.follow(numbered(2, "(choose 2)"), "(choose 2)", True, False)
    match.follow(numbered(3, "noop", "(opened 1)"), "noop", True, False)
    before = match.observed
    match.follow(numbered(4, "stay"), "stay", True, False)
    assert "a turn that cannot be" in events
    match.follow(numbered(4, "switch"), "stay", True, False)
    assert match.observed == before and len(match.history) == 4


def test_nonsense_costs_the_prover_no_more_than_some_hundred_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """In mastermind with a thousand possible codes: what can never be perceived is not looked for."""
    match, events = begun("mastermind")
    calls = {"percepts": 0, "next_state": 0}
    for name in calls:
        usual = getattr(ProverMachine, name)

        def counting(self: ProverMachine, *args: object, name: str = name, usual: object = usual) -> object:
            calls[name] += 1
            return usual(self, *args)  # type: ignore[operator]

        monkeypatch.setattr(ProverMachine, name, counting)
    match.follow(numbered(0, None), None, True, False)
    for turn in range(1, 5):
        match.follow(numbered(turn, "noop"), "noop", True, False)
    assert len(match.belief) == 1296 and not events
    for turn in range(5, 9):
        calls.update(dict.fromkeys(calls, 0))
        match.follow(numbered(turn, match.text(0, match.options()[0]), "(nonsense 1)"), None, True, False)
        assert events[-1] == "percepts that fit no state"
        assert calls["percepts"] == 0 and calls["next_state"] <= 256
        assert 0 < len(match.belief) <= 256


# --- PLAYs of somebody else between the true ones: what is answered to the true ones is legal
GAMES = ("montyhall", "kuhn", "blindtictactoe", "leduc", "liarsdice")


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
def junk_of(draw: st.DrawFn, name: str, role: int, turn: int) -> Told:
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
        for told in data.draw(st.lists(junk_of(name, truth.role, turn), max_size=2)):
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
