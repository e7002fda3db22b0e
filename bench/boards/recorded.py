"""Recorded matches as states of their games, without a machine; and pictures of our own games as hashes,
which a test compares and ``python -m bench.boards --golden`` writes anew.

Look at the sheet (``python -m bench.boards``) before you write hashes: they say only that nothing has
changed.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from pathlib import Path

import orjson

from gdl.reading import games_folder
from gdl.rules import Rules
from gdl.syntax.parser import parse_rules, parse_term
from gdl.terms import Term
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.rule_files import installed_games, read_rules_file
from ggp.traces import Trace, find_traces

_MOST_STATES = 300


@dataclass(frozen=True, slots=True)
class RecordedGame:
    """Attributes:
    name, rules, roles: the game.
    states: of all matches, the first state of all first; at most some hundreds.
    first: the states of the first match.
    moves: for each state, each role's legal moves, as the trace has them.
    """

    name: str
    rules: Rules
    roles: tuple[Term, ...]
    states: tuple[frozenset[Term], ...]
    first: tuple[frozenset[Term], ...]
    moves: tuple[tuple[tuple[Term, ...], ...], ...]


def read_recorded(trace: Trace, most: int = _MOST_STATES) -> RecordedGame:
    """The game of a trace, and at most so many of its states."""
    rules = parse_rules(read_rules_file(trace.rules), trace.name)
    terms: dict[str, Term] = {}

    def read(text: str) -> Term:
        if text not in terms:
            terms[text] = parse_term(text)
        return terms[text]

    roles: tuple[Term, ...] = ()
    states: list[frozenset[Term]] = []
    first: list[frozenset[Term]] = []
    moves: list[tuple[tuple[Term, ...], ...]] = []
    opener = gzip.open if trace.trace.suffix == ".gz" else open
    with opener(trace.trace, "rb") as lines:
        for line in islice(lines, most + 2):
            fields = orjson.loads(line)
            if fields["type"] == "game":
                roles = tuple(map(read, fields["roles"]))
            elif fields["type"] == "step":
                states.append(frozenset(map(read, fields["state"])))
                if not fields["p"]:
                    first.append(states[-1])
                legal = fields["legal"]
                moves.append(tuple(tuple(map(read, options)) for options in legal.values()))
    return RecordedGame(trace.name, rules, roles, tuple(states), tuple(first), tuple(moves))


def renamed(term: Term, names: dict[str, str]) -> Term:
    """A term in the names of scrambled rules."""
    return Term(names.get(term.name, term.name), *(renamed(arg, names) for arg in term.args))


GOLDEN = Path("tests/ggp/boards/pictures.json")
LEVELS = ("tutorial.xsb:1", "yards.xsb:2", "snakes.txt:2")


def own_games() -> list[str]:
    """The names of all games that come along, and some levels."""
    return [*(path.stem for path in installed_games()), *LEVELS]


def pictures(name: str) -> list[str]:
    """Drawings of a game: the first state of all, one in the middle of a recorded match, and its end. Of a
    level the first state alone."""
    machine = Game.load(name).machine("prover")
    painter = SvgPainter.of_machine(machine, name)
    if name in LEVELS:
        return [painter.draw_state(machine.initial_state())]
    trace = next(trace for trace in find_traces([games_folder() / "playthroughs"]) if trace.name == name)
    first = read_recorded(trace).first
    drawn: list[str] = []
    for at in sorted({0, len(first) // 2, len(first) - 1}):
        drawn.append(painter.draw(first[at], first[at - 1] if at else None))
    return drawn


def hashes(name: str) -> list[str]:
    """The hash of each of a game's pictures."""
    return [sha256(drawn.encode()).hexdigest()[:16] for drawn in pictures(name)]


def write(path: Path) -> int:
    """Write the hashes of all own games; returns how many games there are."""
    golden = {name: hashes(name) for name in own_games()}
    path.write_bytes(orjson.dumps(golden, option=orjson.OPT_INDENT_2) + b"\n")
    return len(golden)
