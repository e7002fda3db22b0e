"""The messages of the GGP match protocol: read from text, written as text.

The rules in a START message are cut out as text and not looked into: the process that serves
many connections must not spend its time on one game's rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gdl.errors import ParseError
from gdl.syntax.sexpr import MAX_DEPTH, Source

MAX_CLOCK = 7 * 24 * 3600
"""Longest clock that is taken, in seconds; a longer one is cut down to it."""

MAX_WORD = 1000
"""Longest match id or role that is taken, in characters."""

READY = "ready"
BUSY = "busy"
DONE = "done"
ABORTED = "aborted"
NO_MOVE = "nil"

_TOKEN = re.compile(r"[()]|;[^\n]*|[^\s();]+")


@dataclass(frozen=True, slots=True)
class Info:
    """Who are you, and are you free?"""


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
class Play:
    """Give your move. ``moves`` is the joint move made last, in role order, each as text;
    None before the first."""

    match: str
    moves: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Stop:
    """The match is over; ``moves`` is the last joint move."""

    match: str
    moves: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Abort:
    """The match is given up."""

    match: str


Message = Info | Preview | Start | Play | Stop | Abort


# --- reading ------------------------------------------------------------------------------------
def parse_message(text: str) -> Message:
    """Read a message. Words in any case, any white space; a bare ``INFO`` is one too.

    Raises:
        ParseError: the text is no message, with the place and what was expected.
    """
    source = Source(text, "message")
    outer = split(text)
    if len(outer) != 1:
        raise ParseError(
            f"expected one message, found {len(outer)} expressions" if outer else "the message is empty",
            remedy="send ( INFO ), ( START ... ), ( PLAY ... ), ( STOP ... ) or ( ABORT ... )",
            source="message",
        )
    parts = split(_inside(outer[0])) if outer[0].startswith("(") else outer
    if not parts:
        raise source.error("the message is empty", 0, "send ( INFO )", "empty-message")
    command, *arguments = parts
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
        case "play", [match, moves, *_]:
            return Play(_word(match, "the match id"), _moves(moves))
        case "stop", [match, *rest]:
            return Stop(_word(match, "the match id"), _moves(rest[0]) if rest else None)
        case "abort", [match, *_]:
            return Abort(_word(match, "the match id"))
        case ("preview" | "start" | "play" | "stop" | "abort") as known, _:
            raise ParseError(
                f"{known.upper()} has {len(arguments)} arguments, too few",
                remedy=f"send {_SHAPES[known]}",
                source="message",
            )
        case _:
            raise ParseError(
                f"there is no command {_shown(command)}",
                remedy="the commands are INFO, PREVIEW, START, PLAY, STOP and ABORT",
                source="message",
            )


_SHAPES = {
    "preview": "( PREVIEW (RULES) CLOCK )",
    "start": "( START MATCHID ROLE (RULES) STARTCLOCK PLAYCLOCK )",
    "play": "( PLAY MATCHID NIL ) or ( PLAY MATCHID (MOVE1 MOVE2 ...) )",
    "stop": "( STOP MATCHID (MOVE1 MOVE2 ...) )",
    "abort": "( ABORT MATCHID )",
}


def split(text: str) -> list[str]:
    """The top-level expressions of a KIF text, each as its own text; comments are dropped.

    Only parentheses are looked at, so this is fast and takes no stack for nested text.

    Raises:
        ParseError: the parentheses do not balance or nest too deep.
    """
    parts: list[str] = []
    depth = 0
    begin = 0
    for token in _TOKEN.finditer(text):
        match text[token.start()]:
            case "(":
                if depth == 0:
                    begin = token.start()
                depth += 1
                if depth > MAX_DEPTH + 4:
                    raise Source(text, "message").error(
                        "parentheses nest too deep", token.start(), "flatten the terms", "too-deep"
                    )
            case ")":
                depth -= 1
                if depth < 0:
                    raise Source(text, "message").error(
                        "this ')' closes nothing",
                        token.start(),
                        "remove it, or open it with '('",
                        "unopened-parenthesis",
                    )
                if depth == 0:
                    parts.append(text[begin : token.end()])
            case ";":
                pass
            case _:
                if depth == 0:
                    parts.append(token.group())
    if depth:
        raise Source(text, "message").error(
            "this '(' is never closed", begin, "add the missing ')'", "unclosed-parenthesis"
        )
    return parts


def _inside(group: str) -> str:
    return group[1:-1]


def _group(part: str, what: str) -> str:
    if not part.startswith("("):
        raise ParseError(f"{what} should be a list, not {_shown(part)}", source="message")
    return _inside(part)


def _word(part: str, what: str) -> str:
    if part.startswith("("):
        raise ParseError(f"{what} should be a word, not a list", source="message")
    if len(part) > MAX_WORD or not part.isprintable():
        raise ParseError(f"{what} is not a word of up to {MAX_WORD} characters", source="message")
    return part


def _moves(part: str) -> tuple[str, ...] | None:
    if not part.startswith("("):
        if part.lower() == NO_MOVE:
            return None
        raise ParseError(f"the moves should be NIL or a list, not {_shown(part)}", source="message")
    return tuple(split(_inside(part))) or None


def _clock(part: str) -> int:
    if not (part.isascii() and part.isdigit()):
        raise ParseError(f"a clock should be whole seconds, not {_shown(part)}", source="message")
    return MAX_CLOCK if len(part) > 9 else min(int(part), MAX_CLOCK)


def _shown(part: str) -> str:
    return repr(part if len(part) <= 40 else part[:37] + "...")


# --- writing ------------------------------------------------------------------------------------
def spaced(text: str) -> str:
    """KIF on one line with a blank between any two tokens and no comments, in its own
    spelling: ``( <= ( legal p noop ) ( true ( step ?n ) ) )``."""
    return " ".join(token.group() for token in _TOKEN.finditer(text) if not token.group().startswith(";"))


def info_request() -> str:
    """``( INFO )``"""
    return "( INFO )"


def preview_request(rules: str, clock: int) -> str:
    """``( PREVIEW (RULES) CLOCK )``; ``rules`` as :func:`spaced` gives them."""
    return f"( PREVIEW ({rules}) {clock} )"


def start_request(match: str, role: str, rules: str, startclock: int, playclock: int) -> str:
    """``( START MATCHID ROLE (RULES) STARTCLOCK PLAYCLOCK)``."""
    return f"( START {match} {role} ({rules}) {startclock} {playclock})"


def play_request(match: str, moves: Sequence[str] | None) -> str:
    """``( PLAY MATCHID NIL )`` or ``( PLAY MATCHID (MOVE1 MOVE2 ) )``."""
    return f"( PLAY {match} {_joint(moves)} )"


def stop_request(match: str, moves: Sequence[str] | None) -> str:
    """``( STOP MATCHID (MOVE1 MOVE2 ) )``."""
    return f"( STOP {match} {_joint(moves)} )"


def abort_request(match: str) -> str:
    """``( ABORT MATCHID )``"""
    return f"( ABORT {match} )"


def info_reply(name: str, available: bool) -> str:
    """``( ( name NAME ) ( status available ) ( species MACHINE ) )``."""
    status = "available" if available else BUSY
    return f"( ( name {name} ) ( status {status} ) ( species MACHINE ) )"


def parse_info_reply(text: str) -> dict[str, str]:
    """What a player says of itself; a bare atom (older players) is its status.

    Raises:
        ParseError: the reply is not KIF.
    """
    outer = split(text)
    if len(outer) == 1 and outer[0].startswith("("):
        outer = split(_inside(outer[0]))
    found: dict[str, str] = {}
    for part in outer:
        if not part.startswith("("):
            found.setdefault("status", part.lower())
            continue
        words = split(_inside(part))
        if len(words) >= 2:
            found[words[0].lower()] = " ".join(words[1:])
    return found


def _joint(moves: Iterable[str] | None) -> str:
    if moves is None:
        return "NIL"
    return "(" + "".join(f"{spaced(move)} " for move in moves) + ")"
