"""The collection in one table: each of our games, what its rules are compared with, and how our player fares.

    python -m bench.collection --fast        # what the rules show, oracles, playouts
    python -m bench.collection --minutes 0.5

Each game has a row. The network and the board are those that we find in its rules. An oracle of
``tests/games/oracles`` goes on beside it in random matches and in keen ones; a game without one has the
tests in ``tests/games`` that name it. Playouts are counted on the native machine. Its value is found by
looking at every state (``ggp tabulate``) where it has few facts, or is a known result (KNOWN). In games for
two, ``uct``, or ``pimc`` where information is hidden, plays against ``greedy`` and ``random``, each from
both seats: a check of the player and of the rules.

A game is measured in a process of its own and at once written to the JSON, so the same command goes on
where the last one ended; games that are named are measured again, and with more positions or minutes for
``--solve`` those that had fewer are tried again. The page is written from the JSON. It needs what tests
need.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

from bench.processes import call
from bench.scripts import clocks_of_cpu_time, command_line, processor
from gdl.grounding.pipeline import ground
from gdl.information import hides
from gdl.terms import RANDOM
from ggp.answers.catalogue import folder_of, title_of
from ggp.bench import measure
from ggp.boards.board import find_board
from ggp.boards.race import Race
from ggp.boards.shapes import BoardShape
from ggp.game import Game
from ggp.rule_files import installed_game, installed_games
from propnet.machine import PropnetMachine

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "measurements"
Row = dict[str, Any]
PRELOAD = ["ggp.game", "ggp.boards.race", "tests.games.oracles.boards", "tests.ggp.web.play.test_every_game"]
KEEN = 0.5
"""How often a move of a keen match is one that leaves little."""
MEMORY = "1500M"
"""For the states of a game that is solved."""
MOST_FACTS = 70
"""A game of more base propositions is not tried to be solved."""
OPPONENTS = "greedy", "random"
MOST_ROUNDS = 10
MOST_STEPS = 300
KNOWN = {
    "antichess": ("100, 0", "Watkins 2016"),
    "connectfour": ("100, 0", "Allis 1988"),
    "dobutsu": ("0, 100", "Tanaka 2009"),
    "domineering": ("100, 0", "Breuker, Uiterwijk and van den Herik 2000"),
    "gardner": ("50, 50", "Mhalla and Prost 2013"),
    "gomoku": ("100, 0", "Allis 1994"),
    "hex": ("100, 0", "Nash 1952: no strategy of the second player can be better"),
    "ninemensmorris": ("50, 50", "Gasser 1996"),
    "othello": ("50, 50", "Takizawa 2023"),
    "pentago": ("100, 0", "Irving 2014"),
    "quarto": ("50, 50", "Goossens 1998"),
    "y": ("100, 0", "as hex"),
}
"""What is known of games that are too large to be solved here: the goals by best play, and who found it."""
SHAPES = {shape: shape.value for shape in BoardShape} | {
    BoardShape.STRAIGHT: "squares",
    **dict.fromkeys((BoardShape.RIGHT, BoardShape.LEFT, BoardShape.CENTRED), "hexagons"),
}
"""How rows are placed above each other, in words."""
PAGE = """---
orphan: true
---
# The collection

`python -m bench.collection` writes this page and [collection.json](collection.json): a row for each game that
comes along.

- *Board*: columns, rows and the kind of board that we find in the rules.
- *Gates* of the network. *Playouts* are random matches a CPU second on one core.
- *Beside*: the program that goes on beside our rules, move by move, or `plain Python` from the words of the
  rules; facts, moves, ends and goals are compared, and what each role sees. *Positions* of matches at
  random, and of keen ones, in which every second move is one that takes, or leaves the fewest moves. Games
  without such an oracle have files of `tests/games` that name them.
- *Value*: the goals of the roles by best play. Where a number of states stands beside it, `ggp tabulate`
  found it by looking at all of them; the others are known results, named below. Where one's win is not the
  other's loss, it is one of perhaps several equilibria.
- *Against* `greedy`, which looks one move ahead, and `random`: the points of our player in games for two, a
  mean of 0 to 100 over the number of matches in parentheses, half of them (or one more) from each seat,
  with {seconds:g} CPU seconds a move. The player is `uct`, or `pimc` where information is hidden. A match
  is cut after {steps} moves, with the goals of its last state. So few matches are a check that the player
  and the rules are sane, not a rating.
- *Page*: how a test plays it in a browser.

{games} games: {compared} have an oracle, {own} others are named by files of `tests/games`; {solved} are
solved here. Measured on {machine}, beside other programs that kept all cores busy: rates are lower bounds. A
dash: none, not measured, not found within the time, or no value in pure strategies (the JSON says which).
"""
HEAD = """
## {kind}

| game | players | board | gates | playouts/s | beside | positions | value | greedy | random | page |
|---|---|---|---|---|---|---|---|---|---|---|
"""


def described(name: str) -> Row:
    """What the rules show: title, kind, players, network and board; and how tests play it on the page."""
    from tests.ggp.web.play.test_every_game import BY_KEYS, FAST, FIFTH, SLOW

    game, path = Game.load(name), installed_game(name)
    machine = game.machine("propnet")
    assert path is not None and isinstance(machine, PropnetMachine)
    board, kind = find_board(machine), ""
    if board is not None:
        race = Race.of_board(board, game.rules) is not None
        kinds = {"race": race, "pits": board.pits, "seas": board.seas, "points on lines": board.lines}
        kinds |= {"lines between dots": board.dotted}
        shape = next((word for word, found in kinds.items() if found), SHAPES[board.shape])
        kind = f"{len(board.columns)}x{len(board.rows)} {shape}"
    return {
        "title": title_of(game.text)[0],
        "kind": folder_of(path) if folder_of(path) != "games" else "examples",
        "players": sum(role.lower() != RANDOM.name for role in machine.role_names),
        "chance": RANDOM.name in map(str.lower, machine.role_names),
        "gates": machine.network.gates,
        "board": kind,
        "page": "keys" if name in BY_KEYS else "clicks" if name in (*FAST, *SLOW, *FIFTH) else "",
    }


def compared(name: str, positions: int) -> Row:
    """The oracle beside which the rules went on, in how many positions, and the first difference; or the
    tests that name the game."""
    from tests.games.known import OWN_TESTS
    from tests.games.oracles.catalogue import oracle_of
    from tests.games.oracles.match import difference

    if name in OWN_TESTS:
        return {"oracle": "", "tests": naming(name)}
    start, machine = oracle_of(name), Game.load(name).machine("propnet")
    first, at_random = difference(machine, start, positions, 1)
    second, keen = difference(machine, start, positions, 2, KEEN)
    found = {"at_random": at_random, "keen": keen, "difference": first or second}
    return {"oracle": start().source, **found}


def naming(name: str) -> list[str]:
    """The files of ``tests/games`` that name a game, apart from what they ask of every game."""
    from tests.games.known import SOLVED

    files = sorted((ROOT / "tests" / "games").glob("test_*.py"))
    texts = {path.stem: ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for path in files}
    names = {
        stem
        for stem, nodes in texts.items()
        if any(isinstance(node, ast.Constant) and node.value == name for node in nodes)
    }
    return sorted(names - {"test_every_game"} | ({"test_play"} if name in SOLVED else set()))


def rated(name: str) -> Row:
    """The rate of playouts."""
    rules = Game.load(name).rules
    return {"playouts_per_s": round(measure(name, rules, "auto", 1.0).playouts_per_cpu_s)}


def solved(name: str, minutes: float) -> Row:
    """What `ggp tabulate` finds of a game within minutes by the clock; or why it does not."""
    tried, rules = {"tried_minutes": minutes}, Game.load(name).rules
    if hides(rules) or len(ground(rules).bases) > MOST_FACTS:
        return {**tried, "unsolved": "too large, or hidden"}
    command = [sys.executable, "-m", "ggp", "tabulate", name, "--json", "--memory", MEMORY]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * minutes)
    except subprocess.TimeoutExpired:
        return {**tried, "unsolved": "not within the time"}
    if done.returncode:
        return {**tried, "unsolved": (done.stderr.strip().splitlines() or ["it failed"])[-1][:200]}
    found = json.loads(done.stdout.splitlines()[-1])
    return {**tried, "unsolved": ""} | {
        key: found[key] for key in ("values", "states", "distance", "cycles", "symmetries")
    }


def played(name: str, seconds: float, minutes: float) -> Row:
    """Our player's goals within minutes of this process's CPU time."""
    clocks_of_cpu_time()
    end = time.process_time() + 60 * minutes
    game = Game.load(name)
    player = "pimc" if hides(game.rules) else "uct"
    roles = game.machine("propnet").role_names
    seats = [role for role in roles if role.lower() != RANDOM.name]
    goals: dict[str, list[int]] = {opponent: [] for opponent in OPPONENTS}
    for number in range(MOST_ROUNDS):
        for mine in seats:
            for opponent, results in goals.items():
                if time.process_time() > end and number:
                    break
                names = [
                    player if role == mine else opponent if role in seats else "random" for role in roles
                ]
                match = game.play(
                    names,
                    seconds=seconds,
                    startclock=0.1,
                    seed=number,
                    machine="propnet",
                    max_steps=MOST_STEPS,
                )
                results.append(match.goals[mine] or 0)
    scores = {
        opponent: {
            "points": round(sum(results) / len(results), 1),
            "matches": len(results),
        }
        for opponent, results in goals.items()
    }
    return {"player": player, **scores}


def main() -> None:
    """Measure what is not measured yet, and write the page."""
    parser = command_line(__doc__)
    parser.add_argument("games", nargs="*", help="these, whether they have a row or not; else all")
    parser.add_argument("--fast", action="store_true", help="no values and no matches")
    parser.add_argument(
        "--positions", type=int, default=1_000, help="to compare, at random and by keen moves"
    )
    parser.add_argument("--minutes", type=float, default=1.0, help="of CPU time for the matches of a game")
    parser.add_argument(
        "--solve", type=float, default=2.0, metavar="MINUTES", help="by the clock for its value"
    )
    parser.add_argument("--seconds", type=float, default=0.05, help="of CPU time for a move")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of collection.json and collection.md")
    options = parser.parse_args()
    path = options.folder / "collection.json"
    old: dict[str, Row] = json.loads(path.read_text(encoding="utf-8"))["games"] if path.exists() else {}
    every = [file.stem for file in installed_games()]
    names = [name for name in every if not options.games or name in options.games]
    rows = {name: {} if name in options.games else old.get(name, {}) for name in every}
    about = {"machine": processor(), "seconds": options.seconds, "steps": MOST_STEPS}

    def measure_all(
        job: Callable[..., Row], arguments: tuple[Any, ...], limit: float, wanted: Callable[[Row], bool]
    ) -> None:
        for name in names:
            row = rows[name]
            if not wanted(row):
                continue
            found, why = call(job, (name, *arguments), PRELOAD, limit)
            row.pop(f"not_{job.__name__}", None)
            row |= found or {f"not_{job.__name__}": why}
            path.write_text(json.dumps({**about, "games": rows}, indent=1) + "\n", encoding="utf-8")
            sys.stderr.write(f"{name}: {json.dumps(found or why)}\n")

    measure_all(described, (), 600.0, lambda row: "gates" not in row)
    measure_all(
        compared,
        (options.positions,),
        3600.0,
        lambda row: "oracle" not in row or 0 < row.get("keen", 0) < options.positions,
    )
    if not options.fast:
        limit = 60 * options.solve + 60
        tried = lambda row: "values" in row or row.get("tried_minutes", 0.0) >= options.solve  # noqa: E731
        measure_all(solved, (options.solve,), limit, lambda row: not tried(row))
        clocks = options.seconds, options.minutes
        limit = 120 * options.minutes + 60
        measure_all(played, clocks, limit, lambda row: row.get("players") == 2 and "player" not in row)
    measure_all(rated, (), 600.0, lambda row: "playouts_per_s" not in row)
    kept = json.loads(path.read_text(encoding="utf-8"))
    (options.folder / "collection.md").write_text(page(kept), encoding="utf-8")


def page(kept: dict[str, Any]) -> str:
    """The page of the rows, sorted by kind and title."""
    rows: dict[str, Row] = {
        name: row for name, row in kept["games"].items() if {"kind", "oracle"} <= row.keys()
    }
    order = sorted(rows, key=lambda name: (rows[name]["kind"], rows[name]["title"]))
    text = PAGE.format(
        games=len(rows),
        compared=sum(bool(row["oracle"]) for row in rows.values()),
        own=sum(bool(row.get("tests")) for row in rows.values()),
        solved=sum("values" in row for row in rows.values()),
        **{key: kept[key] for key in ("machine", "seconds", "steps")},
    )
    for kind, names in groupby(order, key=lambda name: str(rows[name]["kind"])):
        text += HEAD.format(kind=kind.replace("-", " ").capitalize())
        text += "".join(f"| {' | '.join(cells(name, rows[name]))} |\n" for name in names)
    known = [name for name in order if name in KNOWN and "values" not in rows[name]]
    sources = " ".join(f"{rows[name]['title']}: {KNOWN[name][1]}." for name in known)
    return f"{text}\nKnown results: {sources}\n"


def cells(name: str, row: Row) -> list[str]:
    """A row of the page."""
    value = KNOWN[name][0] if name in KNOWN else "–"
    if "values" in row:
        value = f"{', '.join(map(str, row['values'].values()))} ({row['states']:,} states)"
    beside, positions = ", ".join(f"`{stem}`" for stem in row.get("tests", ())), "–"
    if row["oracle"]:
        beside, positions = row["oracle"], f"{row['at_random']:,} + {row['keen']:,}"
        positions = f"**{row['difference']}**" if row["difference"] else positions
    scores = [row.get(opponent) for opponent in OPPONENTS]
    return [
        f"{row['title']} (`{name}`)",
        f"{row['players']}{' + chance' * row['chance']}",
        row["board"] or "–",
        f"{row['gates']:,}",
        f"{row['playouts_per_s']:,}" if "playouts_per_s" in row else "–",
        beside or "–",
        positions,
        value,
        *(f"{one['points']:.0f} ({one['matches']})" if one else "–" for one in scores),
        row["page"] or "–",
    ]


if __name__ == "__main__":
    main()
