"""The messages of the GGP match protocol: read from text, written as text.

The rules in a START message are cut out as text and not parsed: the process that serves many connections must
not spend its time on one game's rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gdl.errors import ParseError
from gdl.reading import plain
from gdl.syntax.sexpr import MAX_DEPTH, Source

MAX_CLOCK = 7 * 24 * 3600
"""The longest clock that is accepted, in seconds; a longer one is reduced to it."""
LONGEST_CLOCK = 3600
"""Seconds: longer clocks are reduced to it, unless the server is configured otherwise."""
LONGEST_IDLE = 7200
"""Seconds without a message after which a match is freed, unless the server is configured otherwise."""
_MAX_WORD = 1000
"""The longest match id or role that is accepted, in characters."""
READY = "ready"
BUSY = "busy"
DONE = "done"
ABORTED = "aborted"
NO_MOVE = "nil"

_BEFORE_RULES = re.compile(r"\s*\(\s*(?:(start)\s+([^\s()]+)\s+([^\s()]+)|(preview))\s*\(\s*", re.IGNORECASE)
_TOKEN = re.compile(r"[()]|;[^\n]*|[^\s();]+")


@dataclass(frozen=True, slots=True)
class Info:
    """A question for the player's name and status."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The rules of a game that is about to be played, and seconds to look at them."""

    rules: str
    clock: int


@dataclass(frozen=True, slots=True)
class Start:
    """A match begins: ``rules`` is the text of the sentences, clocks are in seconds."""

    match: str
    role: str
    rules: str
    startclock: int
    playclock: int


@dataclass(frozen=True, slots=True)
class Report:
    """The content of a message about the last turn.

    In most games this is the joint move, ``moves``, in role order, each as text; None before the first. If
    information is hidden, ``moves`` are the percepts of the role; one dialect (Dresden's) also names the
    ``turn`` and the role's ``own`` move, the other (gamecontroller's) does not.
    """

    match: str
    moves: tuple[str, ...] | None
    turn: int | None = None
    own: str | None = None

    @property
    def told(self) -> tuple[str, ...] | None:
        """All of it as one sequence of texts, which distinguishes messages; :func:`read_told` reads it."""
        if self.turn is None:
            return self.moves
        return (f"turn {self.turn}", self.own or NO_MOVE, *(self.moves or ()))


class Play(Report):
    """A request for the player's move."""


class Stop(Report):
    """The match is over."""


def read_told(told: Sequence[str] | None) -> tuple[int | None, str | None, tuple[str, ...]]:
    """The turn, the role's own move and its percepts of :attr:`Report.told`; None for those that it does not
    contain."""
    if told and told[0].startswith("turn ") and len(told) > 1:
        own = None if told[1].lower() == NO_MOVE else told[1]
        return int(told[0].removeprefix("turn ")), own, tuple(told[2:])
    return None, None, tuple(told or ())


@dataclass(frozen=True, slots=True)
class Abort:
    """The match is cancelled."""

    match: str


Message = Info | Preview | Start | Play | Stop | Abort


def parse_message(text: str) -> Message:
    """Parse a message, with words in any case and any white space; a bare ``INFO`` is a message, too. Raises
    ParseError for other texts, with the place and the expected text."""
    text = plain(text)
    beginning = _BEFORE_RULES.match(text)
    if beginning is not None and text[beginning.end() : beginning.end() + 1] not in ("", "(", ")", ";"):
        return _with_foreign_rules(text, beginning)
    expressions = split(text)
    if len(expressions) != 1:
        raise ParseError(
            f"expected one message, found {len(expressions)} expressions"
            if expressions
            else "the message is empty",
            remedy="send ( INFO ), ( START ... ), ( PLAY ... ), ( STOP ... ) or ( ABORT ... )",
            source="message",
        )
    words = split(expressions[0][1:-1]) if expressions[0].startswith("(") else expressions
    if not words:
        raise Source(text, "message").error("the message is empty", 0, "send ( INFO )", "empty-message")
    command, *arguments = words
    match command.lower(), arguments:
        case "info", _:
            return Info()
        case "preview", [rules, clock, *_]:
            return Preview(_group(rules, "the rules"), _clock(clock))
        case "start", [match, role, rules, startclock, playclock, *_]:
            return Start(
                _word(match, "the match id"),
                _word(role, "the role"),
                _group(rules, "the rules"),
                _clock(startclock),
                _clock(playclock),
            )
        case ("play" | "stop") as name, [match, turn, own, percepts, *_] if _is_number(turn):
            kind = Play if name == "play" else Stop
            ours = None if own.lower() == NO_MOVE else own
            return kind(_word(match, "the match id"), _moves(percepts), int(turn), ours)
        case "play", [match, moves, *_]:
            return Play(_word(match, "the match id"), _moves(moves))
        case "stop", [match, *rest]:
            return Stop(_word(match, "the match id"), _moves(rest[0]) if rest else None)
        case "abort", [match, *_]:
            return Abort(_word(match, "the match id"))
    if command.lower() in _SHAPES:
        raise ParseError(
            f"{command.upper()} has {len(arguments)} arguments, too few",
            remedy=f"send {_SHAPES[command.lower()]}",
            source="message",
        )
    raise ParseError(
        f"there is no command {_shown(command)}",
        remedy="the commands are INFO, PREVIEW, START, PLAY, STOP and ABORT",
        source="message",
    )


def _with_foreign_rules(text: str, beginning: re.Match[str]) -> Message:
    """A START or PREVIEW whose rules are probably not KIF. In other notations a ';' or a quote may hide
    parentheses, so they are not counted: the rules end before the second to last ')'."""
    start, match, role, _ = beginning.groups()
    inner, closed, after = text[beginning.end() :].rpartition(")")
    rules, ended, clocks = inner.rpartition(")")
    words = clocks.split()
    if not (closed and ended) or after.strip() or "(" in clocks or len(words) < (2 if start else 1):
        raise Source(text, "message").error(
            f"expected {') STARTCLOCK PLAYCLOCK )' if start else ') CLOCK )'} at the end of the message",
            len(text.rstrip()),
            f"send {_SHAPES['start' if start else 'preview']}",
            "unfinished-message",
        )
    if not start:
        return Preview(rules, _clock(words[0]))
    return Start(
        _word(match, "the match id"), _word(role, "the role"), rules, _clock(words[0]), _clock(words[1])
    )


_SHAPES = {
    "preview": "( PREVIEW (RULES) CLOCK )",
    "start": "( START MATCHID ROLE (RULES) STARTCLOCK PLAYCLOCK )",
    "play": "( PLAY MATCHID NIL ) or ( PLAY MATCHID (MOVE1 MOVE2 ...) )",
    "stop": "( STOP MATCHID (MOVE1 MOVE2 ...) )",
    "abort": "( ABORT MATCHID )",
}


def split(text: str) -> list[str]:
    """The top-level expressions of a KIF text, each as a text of its own; comments are dropped.

    Only parentheses are examined, so this is fast and needs no stack for nested text. Raises ParseError if
    the parentheses do not balance or nest too deep.
    """
    expressions: list[str] = []
    depth = begin = 0
    for token in _TOKEN.finditer(text):
        place = token.start()
        match text[place]:
            case "(":
                if depth == 0:
                    begin = place
                depth += 1
                if depth > MAX_DEPTH + 4:
                    raise _error(text, "parentheses nest too deep", place, "flatten the terms", "too-deep")
            case ")":
                depth -= 1
                if depth < 0:
                    remedy = "remove it, or open it with '('"
                    raise _error(text, "this ')' closes nothing", place, remedy, "unopened-parenthesis")
                if depth == 0:
                    expressions.append(text[begin : token.end()])
            case ";":
                pass
            case _:
                if depth == 0:
                    expressions.append(token.group())
    if depth:
        remedy = "add the missing ')'"
        raise _error(text, "this '(' is never closed", begin, remedy, "unclosed-parenthesis")
    return expressions


def _error(text: str, message: str, place: int, remedy: str, kind: str) -> ParseError:
    return Source(text, "message").error(message, place, remedy, kind)


def _group(text: str, what: str) -> str:
    if not text.startswith("("):
        raise ParseError(f"{what} should be a list, not {_shown(text)}", source="message")
    return text[1:-1]


def _word(text: str, what: str) -> str:
    if text.startswith("("):
        raise ParseError(f"{what} should be a word, not a list", source="message")
    if len(text) > _MAX_WORD or not text.isprintable():
        raise ParseError(f"{what} is not a word of up to {_MAX_WORD} characters", source="message")
    return text


def _moves(text: str) -> tuple[str, ...] | None:
    if text.startswith("("):
        return tuple(split(text[1:-1])) or None
    if text.lower() == NO_MOVE:
        return None
    raise ParseError(f"the moves should be NIL or a list, not {_shown(text)}", source="message")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _clock(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ParseError(f"a clock should be whole seconds, not {_shown(text)}", source="message")
    return MAX_CLOCK if len(text) > 9 else min(int(text), MAX_CLOCK)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def spaced(text: str) -> str:
    """KIF on one line with a blank between any two tokens and no comments, in its original spelling: ``( <= (
    legal p noop ) ( true ( step ?n ) ) )``."""
    return " ".join(
        token.group() for token in _TOKEN.finditer(plain(text)) if not token.group().startswith(";")
    )


def info_request() -> str:
    """``( INFO )``"""
    return "( INFO )"


def start_request(match: str, role: str, rules: str, startclock: int, playclock: int) -> str:
    """``( START MATCHID ROLE (RULES) STARTCLOCK PLAYCLOCK)``."""
    return f"( START {match} {role} ({rules}) {startclock} {playclock})"


def turn_request(command: str, match: str, moves: Sequence[str] | None) -> str:
    """``( PLAY MATCHID NIL )``, ``( PLAY MATCHID (MOVE1 MOVE2 ) )``, or the same with STOP."""
    return f"( {command} {match} {_joint(moves)} )"


def blind_request(
    command: str, match: str, turn: int, own: str | None, percepts: Sequence[str], *, numbered: bool = True
) -> str:
    """A PLAY or STOP of a game of hidden information: ``( PLAY MATCHID TURN LASTMOVE (PERCEPT1 ) )``; without
    turn and last move unless ``numbered``. Before the first move there is neither move nor percept."""
    seen = "NIL" if own is None else _joint(percepts)
    if not numbered:
        return f"( {command} {match} {seen} )"
    return f"( {command} {match} {turn} {'NIL' if own is None else spaced(own)} {seen} )"


def abort_request(match: str) -> str:
    """``( ABORT MATCHID )``"""
    return f"( ABORT {match} )"


def info_reply(name: str, available: bool) -> str:
    """``( ( name NAME ) ( status available ) ( species MACHINE ) )``."""
    status = "available" if available else BUSY
    return f"( ( name {name} ) ( status {status} ) ( species MACHINE ) )"


def parse_info_reply(text: str) -> dict[str, str]:
    """A player's answer to INFO as a dictionary; a bare atom (older players) is its status. Raises ParseError
    if the reply is not KIF."""
    expressions = split(text)
    if len(expressions) == 1 and expressions[0].startswith("("):
        expressions = split(expressions[0][1:-1])
    facts: dict[str, str] = {}
    for expression in expressions:
        if not expression.startswith("("):
            facts.setdefault("status", expression.lower())
            continue
        words = split(expression[1:-1])
        if len(words) >= 2:
            facts[words[0].lower()] = " ".join(words[1:])
    return facts


def _joint(moves: Iterable[str] | None) -> str:
    if moves is None:
        return "NIL"
    return "(" + "".join(f"{spaced(move)} " for move in moves) + ")"
