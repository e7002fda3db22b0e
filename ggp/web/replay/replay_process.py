"""The process that reads and draws the records of one source, within limits of time and memory.

A match is drawn state by state and compared with its rules. In games of hidden information, a role's
knowledge in each step is computed from the rules. A replay can be saved as one self-contained HTML file.

Finds the records and the rules of a match, and makes its card: the game, the players, the result, and a
picture of the last position.

A match comes from a file of records, from a record uploaded by a page, or from a tournament's file.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import orjson

from gdl.errors import GdlError, or_error
from gdl.information import hides, playing
from gdl.machine import Machine
from gdl.reading import read_limited, text_of_file
from gdl.syntax.parser import parse_rules
from gdl.syntax.preface import Preface, read_preface
from gdl.visible import visible
from ggp.answers.catalogue import title_of
from ggp.boards.board import board_of
from ggp.boards.role_view import RoleSight, SightView, new_belief, past_of
from ggp.boards.scene import Onlooker, Seen
from ggp.boards.spoken.ends import EndFinder
from ggp.boards.spoken.words import MoveWords
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.manager import in_words
from ggp.processes.parent import JsonMessage, Send, answer_requests
from ggp.protocol.http_error import object_of
from ggp.report_page import standalone
from ggp.rule_files import installed_place
from ggp.tournament.session import stored_settings
from ggp.tournament.store import Store
from ggp.web.replay.analysis import analysed
from ggp.web.replay.recorded import (
    LARGEST,
    MOST_BROUGHT_BYTES,
    RecordedMatch,
    one_of,
    read_match,
    records_in,
    summary,
)
from players.belief.belief import observed

CARRIED, NAMED, UNKNOWN = "carried", "named", ""
"""The source of a match's rules: its record, the bundled game with the name in the record, or none."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """The records of a file, with the rules and the game's name if the file has them."""

    records: list[dict[str, Any]]
    rules: str = ""
    game: str = ""

    def text_of(self, match: RecordedMatch) -> tuple[str, str]:
        """The name of a match's game and its rules, each empty if unknown."""
        return self.game or match.game, self.rules or match.rules


def game_of(name: str, rules: str) -> Game | None:
    """The game of a record: its rules, or else the bundled game of that name; None if there is none. Raises
    ParseError if the rules cannot be read."""
    if rules:
        return Game(name or "game", rules)
    place = installed_place(name)
    return None if place is None else Game.load(place)


def _of_file(path: Path, number: int) -> RecordSource:
    return RecordSource(records_in(text_of_file(path, LARGEST)))


def _uploaded(path: Path, number: int) -> RecordSource:
    body = object_of(read_limited(path, MOST_BROUGHT_BYTES))
    texts = [body.get(name, "") for name in ("record", "rules", "game")]
    if not all(isinstance(text, str) for text in texts):
        raise GdlError("record, rules and game must be strings")
    record, rules, game = texts
    if len(record) + len(rules) > LARGEST:
        raise GdlError(f"the record has more than {LARGEST:,} bytes")
    return RecordSource(records_in(record), rules, game)


def _in_tournament(path: Path, number: int) -> RecordSource:
    with Store(path, writing=False) as store:
        fixture, record = store.record(number)
        settings = stored_settings(store)
    games = () if settings is None else settings.games
    rules = next((game.rules for game in games if game.name == fixture.game), "")
    return RecordSource(records_in(orjson.dumps(record).decode()), rules, fixture.game)


READERS: dict[str, Callable[[Path, int], RecordSource]] = {
    "record": _of_file,
    "brought": _uploaded,
    "tournament": _in_tournament,
}
"""The reader for each kind of file (:class:`ggp.web.replay.routes.ShelvedRecord`). It takes the file, and the
number of the match in a tournament's file, and raises GdlError and OSError."""


MOST_GAMES = 8
"""Games whose boards are cached, because a folder has many matches of one game."""
_LONGEST_TITLE = 100
_NO_RULES = "(role unknown)"


def shown_title(match: RecordedMatch, game: Game | None) -> str:
    """The displayed title of a match's game."""
    title = match.game if game is None else title_of(game.text)[0] or game.name
    return visible(title[:_LONGEST_TITLE])


def painter_of(match: RecordedMatch, game: Game | None) -> SvgPainter:
    """The painter of a match's states. Without rules the board is found in the states alone."""
    if game is not None:
        return SvgPainter.of_machine(game.machine("prover"), game.name)
    states = list(match.states)
    rules = parse_rules(_NO_RULES)
    return SvgPainter(board_of(rules, (), states, set().union(*states)), rules, (), match.game)


def card_of(source: RecordSource, number: int) -> dict[str, Any]:
    """The data of a card: the fields of :func:`~ggp.web.replay.recorded.summary`, ``title``, ``matches``
    (the number of matches in the file), ``svg``.

    Args:
        source: the file.
        number: the number of the match, from 1. For 0, the whole file, the last readable match is drawn.

    Raises:
        GdlError: there is no such match, or its last state cannot be read.
    """
    record = one_of(source.records, number) if number else _last_readable(source.records)
    match = read_match(_end_of(record))
    game, painter = _game_with_painter(*source.text_of(match))
    painter = painter or painter_of(match, None)
    before = match.states[-2] if len(match.states) > 1 else None
    shown = painter.draw(match.states[-1], before, facts=False)
    title = shown_title(match, game) or "Unknown game"
    # The source of a tournament's match has only that match.
    matches = 1 if number else len(source.records)
    return {**summary(record), "title": title, "matches": matches, "svg": shown}


@lru_cache(MOST_GAMES)
def _game_with_painter(name: str, rules: str) -> tuple[Game, SvgPainter] | tuple[None, None]:
    game = game_of(name, rules)
    return (None, None) if game is None else (game, SvgPainter.of_machine(game.machine("prover"), game.name))


def _last_readable(records: list[dict[str, Any]]) -> dict[str, Any]:
    matches = (or_error(partial(read_match, _end_of(record))) for record in reversed(records))
    at = next((at for at, match in enumerate(matches, 1) if isinstance(match, RecordedMatch)), 1)
    return records[-at]


def _end_of(record: dict[str, Any]) -> dict[str, Any]:
    """The record with at most its last two states, so that the others need not be read."""
    states = record.get("states")
    if not isinstance(states, list):
        return record
    last = states[-2:]
    return {**record, "states": last, "moves": [[]] * (len(last) - 1), "errors": [], "stateTimes": []}


SECONDS = 20.0
"""CPU time for the knowledge of one role; later steps are left out."""


def _seeing_roles(machine: Machine | None) -> list[int]:
    """The roles from whose view a match can be shown: those with hidden information."""
    return [] if machine is None or not hides(machine.rules) else playing(machine.roles)


def _sights_of(
    match: RecordedMatch, machine: Machine, painter: SvgPainter, role: int, said: Preface
) -> list[dict[str, Any]]:
    """A role's knowledge in each state from the initial one on, as the drawings of
    :class:`ggp.boards.role_view.RoleSight`. The list ends before the terminal state, when the record
    contradicts the rules, or after SECONDS.

    Raises GdlError if nothing is hidden from the role or there is no such role.
    """
    if role not in _seeing_roles(machine):
        raise GdlError(f"no role {role} of this game has anything hidden from it")
    end = time.process_time() + SECONDS
    view, belief = SightView(machine, painter.board, painter, said), new_belief(machine, role, 0)
    role_view: RoleSight | None = None
    shown: list[dict[str, Any]] = []
    for found, joint in zip(match.states, match.moves, strict=False):
        role_view = view.sight(belief, role_view)
        shown.append(role_view.shown)
        try:
            state = machine.state_of(found)
            played = tuple(machine.move_id(one, move) for one, move in enumerate(joint))
            if time.process_time() > end or machine.is_terminal(machine.next_state(state, played)):
                break
            belief.update(observed(state, played)[role])
        except GdlError:  # the record contradicts the rules
            break
    return shown


_CHECK_SECONDS = 5.0
"""CPU time for comparing a match with its rules."""


@dataclass(frozen=True, slots=True)
class ComparedMatch:
    """The comparison of a match with its rules.

    Attributes:
        doubts: step -> how the record contradicts the rules: an illegal move, another state, or an end that
            is not terminal.
        words: step -> each role's move before it in words, None for a move that only waits.
        reason: why the match is over, in words; empty if nothing says so.
    """

    doubts: dict[int, str] = field(default_factory=dict)
    words: dict[int, list[str | None]] = field(default_factory=dict)
    reason: str = ""

    def as_json(self) -> dict[str, object]:
        """The comparison as JSON, with strings as keys."""
        return {
            "doubts": {str(step): text for step, text in self.doubts.items()},
            "words": {str(step): words for step, words in self.words.items()},
            "reason": self.reason,
        }


class Replay:
    """A match with its drawings.

    Args:
        match: the match.
        game: its rules. If they are unknown (None), the board is found in the states alone.
        whose: the source of the rules (:mod:`ggp.web.replay.replay_process`).
        painter: of the game, if there is one already.
    """

    def __init__(
        self,
        match: RecordedMatch,
        game: Game | None,
        whose: str = CARRIED,
        painter: SvgPainter | None = None,
    ) -> None:
        self.match = match
        self.game = game
        self._whose = UNKNOWN if game is None else whose
        self._machine: Machine | None = None if game is None else game.machine("prover")
        self._painter = painter or painter_of(match, game)

    def story(self) -> dict[str, Any]:
        """The match without its drawings: names, results, and for each step its moves and faults."""
        match, machine = self.match, self._machine
        width = max([len(match.players), *(len(joint) for joint in match.moves), *map(len, match.errors)])
        roles = [f"role {i + 1}" for i in range(width)]
        if machine is not None:
            roles = [machine.rules.spell(role) for role in machine.roles]
        steps = []
        for number in range(len(match.states)):
            joint = match.moves[number - 1] if 0 < number <= len(match.moves) else ()
            errors = match.errors[number] if number < len(match.errors) else ()
            faults = [{"role": role, "text": in_words(error)} for role, error in enumerate(errors) if error]
            seconds = None
            if 0 < number < len(match.times):
                seconds = round((match.times[number] - match.times[number - 1]) / 1000, 2)
            moves = [self._painter.rules.spell(move) for move in joint]
            steps.append({"moves": moves, "faults": faults, "seconds": seconds})
        return {
            "name": match.name,
            "game": self.game.name if self.game is not None else match.game,
            "title": shown_title(match, self.game),
            "rules": self._whose,
            "roles": roles,
            "players": match.players,
            "clocks": [match.startclock, match.playclock],
            "goals": match.goals,
            "aborted": match.aborted,
            "end": match.end,
            "hidden": _seeing_roles(machine),
            "steps": steps,
        }

    def frame(self, number: int) -> dict[str, object]:
        """A state: ``svg``, the drawing with the changes since the previous state marked, and ``beside``, the
        propositions that are not on the board, a line for each relation."""
        states = self.match.states
        now, before = states[number], states[number - 1] if number else None
        side_lines = self._painter.lines_beside(now)
        made = self.match.moves[number - 1] if 0 < number <= len(self.match.moves) else ()
        by = Onlooker(moves=made, past=self._past(number))
        return {"svg": self._painter.draw(now, before, facts=False, by=by), "beside": side_lines}

    def _past(self, number: int) -> list[Seen]:
        """The steps before a state, as far as the drawing needs them and the rules agree with the record."""
        machine, match = self._machine, self.match
        if machine is None or not self._painter.quiet:
            return []
        with suppress(GdlError):
            joints = [
                [machine.move_id(i, move) for i, move in enumerate(joint)] for joint in match.moves[:number]
            ]
            return past_of(zip(map(machine.state_of, match.states), joints, strict=False))
        return []

    def sights(self, role: int) -> list[dict[str, Any]]:
        """A role's knowledge, step by step (:func:`ggp.web.replay.replay_process.sights_of`)."""
        if self._machine is None or self.game is None:
            raise GdlError("the rules of this match are not known")
        return _sights_of(self.match, self._machine, self._painter, role, read_preface(self.game.text)[0])

    def analysed(self) -> dict[str, Any]:
        """What roles may expect at each step (:func:`ggp.web.replay.analysis.analysed`)."""
        if self.game is None:
            raise GdlError("the rules of this match are not known")
        return analysed(self.match, self.game, self._painter.board)

    def compared(self) -> ComparedMatch:
        """The comparison of the match with its rules, step by step, up to CHECK_SECONDS. Empty without
        rules."""
        machine, result = self._machine, ComparedMatch(reason=self.reason())
        if machine is None:
            return result
        end = time.process_time() + _CHECK_SECONDS
        speech = MoveWords(machine.rules, machine.roles, self._painter.board)
        if machine.initial_state().propositions != self.match.states[0]:
            result.doubts[0] = "the rules begin with another state"
        for number in range(len(self.match.states)):
            if time.process_time() > end:
                break
            self._compare_step(machine, speech, number, result)
        return result

    def reason(self) -> str:
        """Why the match is over, in words; empty if it is not, or nothing says so."""
        try:
            state = None if self._machine is None else self._machine.state_of(self.match.states[-1])
            over = state is not None and self.match.goals and state.machine.is_terminal(state)
            return EndFinder(state.machine, self._painter.board).ending(state).text if state and over else ""
        except GdlError:
            return ""

    def _compare_step(self, machine: Machine, speech: MoveWords, number: int, result: ComparedMatch) -> None:
        """Compare a state, and the joint move in it, with the rules."""
        match = self.match
        try:
            state = machine.state_of(match.states[number])
            if number < len(match.moves):
                after = state.play(*match.moves[number])
                joint = [machine.move_id(role, move) for role, move in enumerate(match.moves[number])]
                result.words[number + 1] = speech.joint(state, joint)
                if number + 1 < len(match.states) and after.propositions != match.states[number + 1]:
                    result.doubts[number + 1] = "by the rules another state follows"
            elif match.goals and not machine.is_terminal(state):
                result.doubts[number] = "by the rules the match goes on here"
        except GdlError as error:
            result.doubts[min(number + 1, len(match.states) - 1)] = error.message


_LARGEST_PAGE = 48 * 1024 * 1024
"""Longest HTML file in characters."""


def as_page(story: dict[str, Any], compared: ComparedMatch, frames: Sequence[Mapping[str, object]]) -> str:
    """The HTML file of a replay: the story, the comparison with the rules and the drawings as data, and the
    viewer's script and styles. Raises GdlError if it is too long."""
    content = {"story": story, "compared": compared.as_json(), "frames": frames}
    title = f"{story['title'] or 'match'}: {', '.join(story['players'])}"
    show = "view(main, data.story, async (step) => data.frames[step]).compare(data.compared);"
    page = standalone(title, content, "viewer.js", ("style.css", "board.css", "replay.css"), show)
    if len(page) > _LARGEST_PAGE:
        raise GdlError(f"the file would have {len(page):,} characters", remedy="replay it here instead")
    return page


MEMORY = 2 * 1024**3
CPU_SECONDS = 300.0
MOST_FRAMES = 64
"""Most drawings in one answer."""
MOST_LISTED = 2000
"""Most matches of a file in its list."""


class ReplayDesk:
    """Answers requests, and caches the match of the last one."""

    def __init__(self) -> None:
        self._stamp: tuple[object, ...] | None = None
        self._source = RecordSource([])
        self._known: tuple[object, ...] | None = None
        self._replay: Replay | None = None

    def answer(self, request: JsonMessage, news: Send) -> dict[str, object]:
        """The answer to a request for a record.

        Args:
            request: ``do`` is ``story``, ``compared``, ``frames`` (``first``, ``count``), ``page``, ``card``,
                ``sights`` (``role``), ``rules`` or ``analyse``. ``path`` is the file, ``kind`` its kind as in
                :class:`ggp.web.replay.routes.ShelvedRecord`, ``match`` the number of the match. For 0 the
                ``story`` of a file with several matches lists them.

        Raises:
            GdlError: the record cannot be read, or there is no such match.
        """
        kind, path, number = request["kind"], Path(request["path"]), int(request["match"])
        in_tournament = number if kind == "tournament" else 0
        self._read(kind, path, in_tournament)
        if request["do"] == "card":
            return card_of(self._source, 1 if in_tournament else number)
        if not number and len(self._source.records) > 1:
            return {"matches": list(map(summary, self._source.records[:MOST_LISTED]))}
        replay = self._of(1 if in_tournament else number or 1)
        last = len(replay.match.states)
        match request["do"]:
            case "story":
                return replay.story()
            case "compared":
                return replay.compared().as_json()
            case "sights":
                return {"sights": replay.sights(int(request["role"]))}
            case "rules":
                return {"rules": "" if replay.game is None else replay.game.text}
            case "analyse":
                return replay.analysed()
            case "frames":
                first = max(0, int(request["first"]))
                end = min(last, first + min(int(request["count"]), MOST_FRAMES))
                return {"frames": [replay.frame(number) for number in range(first, end)]}
            case _:
                frames = [replay.frame(number) for number in range(last)]
                return {"page": as_page(replay.story(), replay.compared(), frames)}

    def _read(self, kind: str, path: Path, number: int) -> None:
        """Read a file if it has changed since the last request."""
        try:
            status = path.stat()
            stamp = kind, path, number, status.st_mtime_ns, status.st_size
            if stamp != self._stamp:
                self._source = READERS[kind](path, number)
                self._stamp = stamp
        except OSError as error:
            raise GdlError(f"the record cannot be read: {error.strerror}") from None

    def _of(self, number: int) -> Replay:
        """The replay of a match."""
        key = self._stamp, number
        if self._replay is None or key != self._known:
            match = read_match(one_of(self._source.records, number))
            name, rules = self._source.text_of(match)
            game, painter = _game_with_painter(name, rules)
            self._replay = Replay(match, game, CARRIED if rules else NAMED, painter)
            self._known = key
        return self._replay


def main() -> None:
    """Answer until the other end is gone."""
    answer_requests(ReplayDesk().answer, "replay", MEMORY, CPU_SECONDS)
