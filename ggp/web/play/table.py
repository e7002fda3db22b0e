"""A match that people play in a browser: seats, steps that can be taken back, clocks, hints.

One thread plays (:meth:`Table.run`). It receives people's requests as JSON objects in an inbox, where they
queue in the order of arrival, and sends messages: ``state`` after every change, ``thinking``, ``search`` (a
player's search in progress), ``hint``, ``note``. ``took`` reports that a request has left the queue. Messages
with the field ``to`` are for one person only.

Each request has the number of the person who makes it. A person who plays alone here may do everything. If
several people play, each makes its own moves, and requests that concern all need the consent of all.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar

import orjson

from gdl.errors import GdlError, MoveError, cannot_play
from gdl.information import Information, chance_role, hides, information_of, playing
from gdl.machine import Machine, State
from gdl.syntax.parser import parse_term
from gdl.terms import RANDOM, Term
from gdl.visible import without_folders
from gdl.words import counted
from ggp.game import Game
from ggp.processes.parent import Inbox, JsonMessage, Send
from ggp.protocol.match_record import MatchRecord, draw_seed
from ggp.web.play.company import FRIEND, OWNER, Company
from ggp.web.play.game_clock import GameClock
from ggp.web.play.requests import REQUESTS, WaitingRequests, refusal
from ggp.web.play.seats import InterruptedByPeopleError, RemoteSeat, check_seat, is_remote, seated
from ggp.web.play.view import HUMAN, OUTSIDE, TableView, WalkFinder
from ggp.web.random_ends import RandomEnds
from ggp.web.replay.recorded import read_match
from ggp.web.replay.replay_process import ComparedMatch, Replay, as_page
from players.belief.belief import Belief
from players.kaskade.kaskade import BOTTOM, Kaskade
from players.kaskade.player import KaskadePlayer
from players.match import Match, MatchStep, ask
from players.player import Choice, Player
from players.processes.limits import describe
from players.registry import make_player

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableRequest:
    """The settings of a new table.

    Attributes:
        seats: for each role ``human`` for the person who opens the table, ``friend`` for one who comes later,
            or a player's name or address. Seats beyond the roles are ignored.
        others: the player of the roles without a seat.
        playclock: seconds per move of our players.
        minutes, increment: minutes for the whole match and seconds after each move, for each role; 0 minutes
            for no such clock. Our players think for a share of what they have left, at most ``playclock``.
        name: the name of the person who opens the table; may be empty.
        patience: seconds per move of a person, after which a random move is made; 0 for no limit.
        seed: the seed of chance and players; 0 to draw one. A page cannot choose it.
        workers: search processes of a player.
        allowed: the players' names and addresses given by the operator. A page may choose these and all
            public names (:func:`ggp.web.play.seats.check_seat`).
        title: the displayed title of the game; empty for the title in its rules.
        next_card: the catalogue name of the level after this one; empty if there is none.
        moves: joint moves as the rules spell them, from which the match goes on.
    """

    game: Game
    seats: Sequence[str] = ()
    others: str = "uct"
    playclock: float = 2.0
    minutes: float = 0.0
    increment: float = 0.0
    name: str = ""
    patience: float = 0.0
    seed: int = 0
    workers: int = 0
    allowed: Sequence[str] = ()
    title: str = ""
    next_card: str = ""
    moves: Sequence[Sequence[str]] = ()


class AttentiveSeat(KaskadePlayer):
    """A player that answers at once when an urgent request waits at the table."""

    def __init__(self, player: Player, kaskade: Kaskade, hurry: Callable[[], bool]) -> None:
        super().__init__(player, kaskade)
        self.hurry = hurry

    def _is_called(self) -> bool:
        return self.hurry() or super()._is_called()


_HINT_SECONDS = 2.0
MOST_STEPS = 5000
_WALK_SECONDS = 0.06
"""Pause between the steps of a walk, so that each is visible."""
ALOUD_SECONDS = 0.5
"""Shortest interval between two ``search`` messages."""


class Table:
    """One match.

    Raises:
        GdlError: there is no such player, or the page may not choose it.
    """

    FIRST_SECONDS = 3.0
    """Longest wait for the first machine above the prover."""

    def __init__(self, request: TableRequest, inbox: Inbox, send: Send) -> None:
        for name in {*request.seats, request.others}:
            check_seat(name, request.allowed)
        self._request, self._send = request, send
        self._requests = WaitingRequests(inbox, send, self._refusal)
        game = request.game
        self._kaskade = Kaskade("auto")
        self._kaskade.begin(game.text, game.rules)
        self._kaskade.wait(next(iter(self._kaskade.levels), BOTTOM), self.FIRST_SECONDS)
        self.machine = machine = self._kaskade.best()
        self._view = TableView(game, machine, request.title)
        self.roles = self._view.roles
        rest = [request.others] * (len(self.roles) - len(request.seats))
        self._chance = chance_role(machine.roles)
        seats = seated([*request.seats, *rest][: len(self.roles)], len(self.roles), self._chance)
        self.seats = [HUMAN if seat == FRIEND else seat for seat in seats]
        """Role -> player. Seats beyond the roles are dropped, because a page does not know how many there
        are."""
        self._seconds = [request.playclock] * len(seats)
        """Seconds per move of each role's player."""
        self._company = Company(seats, 1 if hides(game.rules) else len(seats))
        self._company.names[OWNER] = request.name
        self._asker, self._came = OUTSIDE, 0.0
        self._seen_ends: tuple[Machine | None, RandomEnds] = None, RandomEnds()
        self._players: dict[int, AttentiveSeat | RemoteSeat] = {}
        self._adviser: dict[int, AttentiveSeat] = {}
        self._aloud = 0.0
        self._ended: tuple[Match, list[str], int] | None = None
        """The last match that is over, with who played it and its seed."""
        self._waits = False  # after going back our players wait for a move or ``go``
        self._seed = request.seed
        self._level = hashlib.sha256(game.text.encode()).hexdigest()[:16] * (len(self.roles) == 1)
        self._deal()

    def run(self) -> None:
        """Play until the request ``end`` comes."""
        try:
            self._follow(self._request.moves)
            self._show()
            while self._turn():
                pass
        finally:
            for player in (*self._players.values(), *self._adviser.values()):
                player.stop()
            self._kaskade.close()

    def _follow(self, line: Sequence[Sequence[str]]) -> None:
        """Play the joint moves with which the table was opened. Raises GdlError if they cannot be played, or
        if the game hides something: one person would know a deal that the others do not know."""
        if line and hides(self._request.game.rules):
            raise GdlError("this game hides information: it does not go on from a known step")
        for number, texts in enumerate(line, 1):
            if len(texts) != len(self.roles):
                raise GdlError(f"step {number} has {counted(len(texts), 'move')}", remedy="give one per role")
            self.match.state.play(list(texts))  # says why it cannot be played
            moves = [parse_term(text, notation="auto") for text in texts]
            joint = [self.machine.move_id(role, move) for role, move in enumerate(moves)]
            self._learnt(self.match.replay(joint))

    def _deal(self) -> None:
        """Begin the match. Games with chance or hidden information draw a new seed for each match
        unless one was given, so that no match predicts the next one."""
        draws = information_of(self._request.game.rules) is not Information.PERFECT
        if draws and not self._request.seed:
            self._seed = draw_seed()
        self.match = Match(self.machine, random.Random(self._seed), max_steps=MOST_STEPS)
        request = self._request
        self._clock = GameClock(len(self.roles), 60 * request.minutes, request.increment, request.patience)

    def _turn(self) -> bool:
        """Do one thing: get a player's answer, handle a request, or make the joint move. False at the end."""
        match = self.match
        if self._waits or match.over or match.why:
            return self._obey(self._requests.next())
        answered = False
        for role in match.waiting:
            if role == self._chance:
                match.answer(role, Choice(match.draw(role)))
            elif self.seats[role] != HUMAN:
                if self._requests.urgent() or not self._think(role):
                    return self._obey(self._requests.next())
                answered = True
        if match.waiting:
            if answered:
                self._show()  # shows that a role has chosen, but not its move
            return self._await_people()
        self._make()
        return True

    def _await_people(self) -> bool:
        seconds = self._allowed()
        request = self._requests.next(None if seconds == inf else seconds)
        # Requests count from when they came, however many others the table has handled since.
        now = time.monotonic() if request is None else request.get("came", time.monotonic())
        for role in self.match.waiting:
            if not self._clock.allowed(role, now) and not self._loses(role, now):
                self.match.replace(role, "late")
                self._clock.moved(role, now)
                self._send("note", text=f"{self.roles[role]}: the time is over, a random move is made")
        return True if request is None else self._obey(request)

    def _allowed(self) -> float:
        """The seconds until the next person has no time left. Clocks run only if all seats are taken."""
        if self._is_complete():
            self._clock.run(self.match.waiting)
        return min(map(self._clock.allowed, self.match.waiting))

    def _is_complete(self) -> bool:
        """Whether no seat waits for a person."""
        seats = zip(self.seats, self._company.at, strict=True)
        return all(seat != HUMAN or person is not None for seat, person in seats)

    def _loses(self, role: int, now: float | None = None) -> bool:
        """Whether a role has run out of time and loses so; then the match is closed."""
        if not self._clock.left(role, now) and self.match.closed is None and self._ends().ends:
            self._lose(role, "ran out of time")
        return self.match.closed is not None

    def _ends(self) -> RandomEnds:
        """The ends of random matches, once the game has a machine that plays fast."""
        machine = self._kaskade.best()
        if self._seen_ends[0] is not machine and not self._seen_ends[1].ends:
            self._seen_ends = machine, RandomEnds.of(machine)
        return self._seen_ends[1]

    def _lose(self, role: int, how: str) -> None:
        """Close the match because a role gives up or has no time left; the other one has won."""
        winner = next(one for one in playing(self.machine.roles) if one != role)
        text = f"{self._who(role)} {how}: {self._who(winner)} has won"
        self._close(text, self._ends().given_up(role))

    def _close(self, text: str, goals: Sequence[int]) -> None:
        self.match.close(text, goals)
        self._note_end()
        self._clear()
        self._show()

    def _who(self, role: int) -> str:
        """A role, with the name of the person who plays it."""
        name = self._name(role)
        return f"{name} ({self.roles[role]})" if name else self.roles[role]

    def _name(self, role: int) -> str:
        """The name of the person who plays a role; empty if it has none."""
        person = self._company.at[role]
        return "" if person is None else self._company.names.get(person, "")

    def _think(self, role: int) -> bool:
        """Take a player's answer; False if an urgent request has arrived in the meantime, or the player has
        run out of time."""
        if self._is_complete():
            self._clock.run([role])
        answered = self._ask_player(role, min(self._seconds[role], self._clock.share(role)))
        if answered and not self._loses(role):
            self._clock.moved(role)
        self._clock.halt()
        return answered and self.match.closed is None

    def _ask_player(self, role: int, seconds: float) -> bool:
        """Have a player answer within ``seconds``; False if an urgent request has arrived in the meantime."""
        state, deadline = self.match.state, time.monotonic() + seconds
        self._send("thinking", role=role, seconds=seconds)
        try:
            choice = self._answer(self._player(role, state, deadline, seconds), role, deadline)
            if self._requests.urgent():
                return False
            self.match.answer(role, choice)
        except InterruptedByPeopleError:
            return False
        except Exception as error:
            plain = isinstance(error, (GdlError, MemoryError, OSError))
            fault = str(error) if plain else describe(error)
            self._send("note", text=f"{self.seats[role]} failed: {fault}")
            self.match.replace(role, fault)
        return True

    def _answer(self, player: AttentiveSeat | RemoteSeat, role: int, deadline: float) -> Choice:
        """The move that a player chooses."""
        match = self.match
        if isinstance(player, RemoteSeat):
            return player.choose(match.state, [(step.state, step.joint) for step in match.steps[: match.at]])
        return ask(player, match.state, self._belief(role), deadline)

    def _belief(self, role: int) -> Belief | None:
        """What a role believes; None if the game hides nothing."""
        return None

    def _known(self, role: int) -> Collection[Term] | None:
        """What a role knows of the present state; None if the game hides nothing."""
        return None

    def _player(self, role: int, state: State, deadline: float, seconds: float) -> AttentiveSeat | RemoteSeat:
        player = self._players.get(role)
        if isinstance(player, RemoteSeat) and seconds <= player.clock - 1:
            self._leave(role)  # the protocol has the same clock for all moves of a match
            player = None
        if player is None:
            name = self.seats[role]
            if is_remote(name):
                player = RemoteSeat(name, role, seconds, self._requests.urgent)
            else:
                player = self._new_player(name, role, state, deadline)
            self._players[role] = player
        return player

    def _new_player(self, name: str, role: int, state: State, deadline: float) -> AttentiveSeat:
        inner = make_player(
            name, self._seed % (1 << 31) * 64 + role, workers=self._request.workers, ponder=False
        )
        player = AttentiveSeat(inner, self._kaskade, self._requests.urgent)
        player.on_progress = lambda choice: self._think_aloud(role, player, self.match.state, choice)
        startclock = (deadline - time.monotonic()) / 2
        player.start(self.machine, role, state, startclock, time.monotonic() + startclock)
        return player

    def _think_aloud(self, role: int, player: KaskadePlayer, state: State, choice: Choice) -> None:
        """Send a player's search in progress as ``search``, at most once in ALOUD_SECONDS."""
        now = time.monotonic()
        secret = self._view.secret(state, role, self.seats, self.match.choices)
        if now >= self._aloud + ALOUD_SECONDS and not secret:
            self._aloud = now
            candidates = self._view_of(role).candidates(state, role, choice)
            details = {"machine": player.machine.level, "expects": choice.expects, "candidates": candidates}
            self._send(
                "search",
                turn=self.match.at + 1,
                role=role,
                note=f"{self.roles[role]}, {choice.note}",
                **details,
            )

    def _view_of(self, role: int) -> TableView:
        """The view that spells a role's moves."""
        return self._view

    def _make(self) -> None:
        """Play the joint move that all roles have chosen."""
        step = self.match.make()
        self._note_end()
        self._clear()
        self._learnt(step)
        self._show()

    def _learnt(self, step: MatchStep) -> None:
        """Called after a joint move was made."""

    def _clear(self) -> None:
        """Drop the answers and the offers of this turn, and stop the clocks."""
        self.match.forget()
        self._company.forget()
        self._clock.halt()

    def _obey(self, request: JsonMessage | None) -> bool:
        """Handle one request. If it is refused, a ``note`` has the reason. False for the request ``end``."""
        asked = {"person": OUTSIDE, "came": time.monotonic(), "do": "", **(request or {})}
        self._asker, self._came, do = asked.pop("person"), asked.pop("came"), asked.pop("do")
        if do == "end":
            return False
        try:
            if why := self._refusal(request or {}):
                raise GdlError(why)
            if do in REQUESTS and not REQUESTS[do].fields.keys() <= asked.keys():
                raise GdlError(f"the table does not know this request to {do}")
            getattr(self, f"_do_{do}")(**asked)
        except GdlError as error:
            self._send("note", text=str(error), to=self._asker)
        return True

    def _refusal(self, request: JsonMessage) -> str:
        """The reason why a request is not permitted now; empty if it is."""
        seats = zip(self._company.at, self.roles, strict=True)
        sitting = [(person, role) for person, role in seats if person is not None]
        return refusal(request, sitting, self._phase())

    def _phase(self) -> str:
        """The phase of a match that hides something; empty for others."""
        return ""

    def _between(self) -> bool:
        """Whether several people play here."""
        return len(self._company.people) > 1

    def _agreed(self, what: str) -> int | None:
        """The first person who asked for this, if now all agree; otherwise the others see the request."""
        first = self._company.agree(what, self._asker)
        if first is None:
            self._show()
        return first

    # Requests: the method of each is called after it

    def _do_sit(self, role: str, name: str) -> None:
        place = self._role(role)
        if self.seats[place] == HUMAN:
            self._company.sit(self._asker, place)
        self._company.names[self._asker] = name
        self._show()

    def _do_left(self) -> None:
        """Free the seats of one of several people who has been away for long, unless its clock runs."""
        if self._between() and (not self._request.minutes or self._is_closed()):
            self._company.leave(self._asker)
            self._show()

    def _do_decline(self, offer: str) -> None:
        self._company.decline(offer, self._asker)
        self._show()

    def _do_back(self) -> None:
        """Go back to where the person who asked first had its last choice."""
        if (first := self._agreed("back")) is not None:
            at, own = self.match.at, [role for role, one in enumerate(self._company.at) if one == first]
            earlier = [step for step in self._chosen_at(own) if step < at]
            self._go_to(max(earlier, default=max(at - 1, 0)), waits=False)

    def _do_goto(self, step: int) -> None:
        if self._between():
            self._look(step)
        else:
            self._go_to(step, waits=step < len(self.match.steps))

    def _do_go(self) -> None:
        self._waits = False
        self._show()

    def _do_redo(self) -> None:
        """Go on to where a person had its next choice."""
        people = [role for role, seat in enumerate(self.seats) if seat == HUMAN]
        later = [step for step in self._chosen_at(people) if step > self.match.at]
        self._go_to(min(later, default=len(self.match.steps)), waits=False)

    def _do_pause(self) -> None:
        self._waits = True
        self._clock.halt()
        self._show()

    def _do_again(self) -> None:
        if self._agreed("again") is not None:
            if self._between():
                self._do_swap()
            self._again()

    def _do_show(self) -> None:
        self._show()

    def _is_closed(self) -> bool:
        return bool(self.match.over or self.match.why)

    def _do_resign(self, role: str) -> None:
        if self._is_closed() or not self._ends().ends:
            raise GdlError("this match cannot be resigned")
        self._lose(self._role(role), "resigned")

    def _do_draw(self) -> None:
        goals = self._ends().draw
        if self._is_closed() or not goals or not self._between():
            raise GdlError("there is no draw to agree on")
        if self._agreed("draw") is not None:
            self._close("a draw by agreement", goals)

    def _look(self, step: int) -> None:
        """Show an earlier state to one of several people; the match stays where it is."""
        self._check_step(step)
        self._send("state", **self._whole(step), looks=step != self.match.at, to=self._asker)

    def _role(self, name: str) -> int:
        if name not in self.roles:
            raise GdlError(f"the game has no role {name!r}", remedy=f"its roles are {', '.join(self.roles)}")
        return self.roles.index(name)

    def _do_move(self, role: str, move: str, step: int | None = None) -> None:
        """Choose a move; with ``step``, only in the state after so many steps, so that a second click does
        not play twice."""
        place = self._role(role)
        if step not in (None, self.match.at):
            raise MoveError("the match has gone on since then", remedy="look at the board again")
        if self.seats[place] != HUMAN:
            raise GdlError(f"{role} is played by {self.seats[place]}", remedy="take its seat first")
        if self._is_closed():
            raise MoveError("the match is over")
        texts = {self._view.spelled(place, option): option for option in self.match.options[place]}
        if move not in texts:
            raise cannot_play(role, move, list(texts))
        self._waits = False
        self.match.answer(place, Choice(texts[move]))
        self._clock.moved(place, self._came)
        self._show()

    def _chosen_at(self, roles: Sequence[int]) -> list[int]:
        """The numbers of the states in which one of these roles had a choice."""
        return [step.number - 1 for step in self.match.steps if not step.choices.keys().isdisjoint(roles)]

    def _check_step(self, step: int) -> None:
        if not 0 <= step <= len(self.match.steps):
            raise GdlError(f"there is no step {step}", remedy=f"0 to {len(self.match.steps)}")

    def _go_to(self, step: int, waits: bool) -> None:
        self._check_step(step)
        self.match.go_to(step)
        self._waits = waits
        self._clear()
        self._show()

    def _do_seat(self, role: str, player: str, seconds: float = 0.0) -> None:
        place = self._role(role)
        check_seat(player, self._request.allowed)
        if place == self._chance and player != RANDOM.name:
            raise GdlError("the role random is chance: its moves are drawn", remedy="leave it to random")
        self._leave(place)
        self.seats[place] = HUMAN if player == FRIEND else player
        self._seconds[place] = seconds or self._request.playclock
        self._company.at[place] = None
        if player == HUMAN:
            self._company.sit(self._asker, place)
        self._clear()
        self._show()

    def _do_swap(self) -> None:
        for role in range(len(self.roles)):
            self._leave(role)
        roles = playing(self.machine.roles)
        self.seats = _passed_on(self.seats, roles)
        self._seconds = _passed_on(self._seconds, roles)
        self._company.at = _passed_on(self._company.at, roles)
        self._clear()
        self._show()

    def _again(self) -> None:
        """Start the game again from its initial state, with new players."""
        for role in range(len(self.roles)):
            self._leave(role)
        self._seed += 1
        self._deal()
        self._go_to(0, waits=False)

    def _do_walk(self, role: str, to: str, origin: str = "") -> None:
        """Play several moves of a person that bring something to a square."""
        place = self._role(role)
        if self.seats[place] != HUMAN or len(self.roles) > 1 or self._view.board is None:
            raise GdlError("only a single human player can walk over a board")
        found = WalkFinder(self.machine, self._view.board).way(self.match.state, place, to, origin)
        if found is None:
            raise GdlError("there is no way to that square", remedy="push or move step by step")
        self._waits = False
        for number, move in enumerate(found):
            if number:
                time.sleep(_WALK_SECONDS)
            self.match.answer(place, Choice(move))
            self._make()

    def _do_keep(self, form: str, over: bool = False) -> None:
        """Send the text of the match, or with ``over`` of the last one that is over: who asks for that does
        not know yet that another one has begun."""
        try:
            played = self._ended if over and not self._is_closed() else self._played()
            if played is None:
                raise GdlError("no match is over here yet")
            text = keep(form, self._request.game, self._view.title, self._request.playclock, *played)
            self._send("kept", form=form, over=over, text=text)
        except GdlError as error:
            self._send("kept", form=form, over=over, error=without_folders(str(error)))

    def _played(self) -> tuple[Match, list[str], int]:
        """The match, who plays it and its seed."""
        return self.match, [self._name(role) or seat for role, seat in enumerate(self.seats)], self._seed

    def _note_end(self) -> None:
        if self._is_closed():
            self._ended = self._played()

    def _leave(self, role: int) -> None:
        player = self._players.pop(role, None)
        if player is not None:
            player.stop()

    def _do_hint(self, role: str) -> None:
        """Send the move that ``uct`` chooses for a role as ``hint``."""
        place, state = self._role(role), self.match.state
        if self._is_closed() or len(self.match.options[place]) < 2:
            raise GdlError(f"{role} has no choice here")
        deadline = time.monotonic() + _HINT_SECONDS
        self._send("thinking", role=place, seconds=_HINT_SECONDS)
        if place not in self._adviser:
            self._adviser[place] = self._new_player("uct", place, state, deadline)
        choice = self._answer(self._adviser[place], place, deadline)
        hint = self._view_of(place).hint(state, place, choice, self._known(place))
        self._send("hint", role=place, step=self.match.at, **hint, to=self._asker)

    def _show(self) -> None:
        self._send("state", **self._whole(self.match.at))

    def _whole(self, step: int) -> dict[str, Any]:
        """The fields of the message ``state``: the state after a step and the whole match."""
        match = self.match
        people = [role for role, seat in enumerate(self.seats) if seat == HUMAN]
        goes_on = step == match.at and not match.stuck and match.closed is None
        choosing = [role for role, moves in enumerate(match.options) if len(moves) > 1]
        return {
            **self._view.seen(match, step, people[0] if len(people) == 1 else None),
            **self._setting(),
            "why": match.why,
            "asked": self._view.asked(match, self.seats) if goes_on else [],
            "choosing": choosing if goes_on else [],
            "chosen": sorted(match.choices),
        }

    def _setting(self) -> dict[str, Any]:
        """The fields that do not depend on the state."""
        request, company = self._request, self._company
        between = self._between() and not self._is_closed()
        left = (
            [round(self._clock.left(role), 1) for role in range(len(self.roles))] if request.minutes else None
        )
        runs = not (self._waits or self._is_closed()) and self._is_complete()
        return {
            "game": request.game.name,
            "title": self._view.title,
            "roles": self.roles,
            "turned": self._view.turned,
            "seats": self.seats,
            "persons": list(company.at),
            "offers": {what: list(wanting) for what, wanting in company.offers.items()},
            "resigns": between and bool(self._ends().ends),
            "draws": between and bool(self._ends().draw),
            "waits": self._waits,
            "seconds": list(self._seconds),
            "left": left,
            "running": self.match.waiting if left is not None and runs else [],
            "next": request.next_card,
            "level": self._level,
            "patience": request.patience,
        }


def _passed_on(places: Sequence[T], roles: Sequence[int]) -> list[T]:
    """A list with an item for each role, after each of these roles got the item of the next one."""
    after = list(places)
    for role, source in zip(roles, (*roles[1:], *roles[:1]), strict=True):
        after[role] = places[source]
    return after


def keep(
    form: str, game: Game, title: str, clock: float, match: Match, seats: Sequence[str], seed: int
) -> str:
    """The text of a file with all steps of a match.

    Args:
        form: ``record`` for JSON, ``html`` for a self-contained page.
        clock: seconds per move of a player.
        match: the match, of which all steps are kept.
        seed: the seed of the match's random draws.

    Raises:
        GdlError: the file would be too long.
    """
    machine, steps, last = match.machine, match.steps, match.states[-1]
    roles = range(len(machine.roles))
    record = MatchRecord("Table", 0, max(1, round(clock)), seats, game=title, rules=game.kif, seed=seed)
    for state in match.states:
        record.add_state(state, [""] * len(roles))
    record.state_times = []  # people take steps back, so states have no times
    for step in steps:
        record.add_moves(step.state, step.joint)
    goals: list[int | None] = [None]
    if machine.is_terminal(last):
        goals = [0 if machine.roles[role] is RANDOM else machine.goal(last, role) for role in roles]
    record.completed = None not in goals
    if match.closed is not None:
        record.aborted, record.end = True, match.closed.text
    record.goals = [goal for goal in goals if goal is not None]
    content = record.to_dict()
    if form == "record":
        return orjson.dumps(content).decode()
    replay = Replay(read_match(content), game)
    frames = [replay.frame(number) for number in range(len(steps) + 1)]
    words = {number: step.words for number, step in enumerate(steps, 1) if step.words}
    return as_page(
        {**replay.story(), "title": title}, ComparedMatch(words=words, reason=replay.reason()), frames
    )
