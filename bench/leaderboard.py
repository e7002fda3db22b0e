"""A leaderboard of ourselves: the value of each game for two where it can be had, and how our player fares.

    python -m bench.leaderboard --minutes 0.5

Each game for two roles, and perhaps chance, has a row. Its value is found by looking at every state (``ggp
tabulate``) where it has few facts, or is a known result (KNOWN). ``uct``, or ``pimc`` where information is
hidden, plays against ``greedy`` and ``random``, each from both seats: a check of the player and of the rules.
Playouts are counted on the native machine. A game is measured in a process of its own and at once written to
the JSON, so the same command goes on where the last one ended; games that are named are measured again, and
with more minutes for ``--solve`` those without a value are tried again. The page is written from the JSON.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.processes import call
from bench.scripts import clocks_of_cpu_time, command_line, processor
from gdl.grounding.pipeline import ground
from gdl.information import hides
from gdl.terms import RANDOM
from ggp.answers.catalogue import folder_of, title_of
from ggp.bench import measure
from ggp.game import Game
from ggp.rule_files import installed_games

FOLDER = Path(__file__).parents[1] / "docs" / "measurements"
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
PAGE = """---
orphan: true
---
# Leaderboard of ourselves

`python -m bench.leaderboard` writes this page and [leaderboard.json](leaderboard.json): a row for each game
for two that comes along.

The *value* is what the first and the second role get if both play best. Where a number of states stands
beside it, `ggp tabulate` found it by looking at all of them; the others are known results, named below. Where
one's win is not the other's loss, it is one of perhaps several equilibria.

Our player's points are a mean of 0 to 100, over the number of matches in parentheses, half of them (or one
more) from each seat, with {seconds:g} CPU seconds a move: against `greedy`, which looks one move ahead, and
against `random`. The player is `uct`, or `pimc` where information is hidden. A match is cut after {steps}
moves, with the goals of its last state. So few matches are a check that the player and the rules are sane,
not a rating.
*Playouts* are random matches a CPU second on one core.

{games} games, {solved} of them solved here. Measured on {machine}, beside other programs: rates are lower
bounds. A dash: not found within the time, or no value in pure strategies (the JSON says which).

| game | value | states | player | against greedy | against random | playouts/s |
|---|---|---|---|---|---|---|
"""


def two_roles(game: Game) -> bool:
    """Whether two roles play, and perhaps chance."""
    heads = [rule.head for rule in game.rules if not rule.body]
    roles = {head.args[0].name for head in heads if head.signature == ("role", 1)}
    return len(roles - {RANDOM.name}) == 2


def solved(name: str, seconds: float) -> dict[str, Any]:
    """What `ggp tabulate` finds of a game within seconds by the clock; or why it does not."""
    command = [sys.executable, "-m", "ggp", "tabulate", name, "--json", "--memory", MEMORY]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"unsolved": "not within the time"}
    if done.returncode:
        return {"unsolved": (done.stderr.strip().splitlines() or ["it failed"])[-1][:200]}
    found = json.loads(done.stdout.splitlines()[-1])
    return {key: found[key] for key in ("values", "states", "distance", "cycles", "symmetries")}


def played(name: str, seconds: float, minutes: float) -> dict[str, Any]:
    """The rate of playouts, and our player's goals, within minutes of this process's CPU time."""
    clocks_of_cpu_time()
    end = time.process_time() + 60 * minutes
    game = Game.load(name)
    player = "pimc" if hides(game.rules) else "uct"
    rate = measure(name, game.rules, "auto", min(1.0, 6 * minutes)).playouts_per_cpu_s
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
    return {"player": player, "playouts_per_s": round(rate), **scores}


def main() -> None:
    """Measure what has no row yet, try once more to solve what had less time, and write the page."""
    parser = command_line(__doc__)
    parser.add_argument(
        "games", nargs="*", help="these, whether they have a row or not; else all without one"
    )
    parser.add_argument("--minutes", type=float, default=1.0, help="of CPU time for the matches of a game")
    parser.add_argument(
        "--solve", type=float, default=2.0, metavar="MINUTES", help="by the clock for its value"
    )
    parser.add_argument("--seconds", type=float, default=0.05, help="of CPU time for a move")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of leaderboard.json and leaderboard.md")
    options = parser.parse_args()
    path = options.folder / "leaderboard.json"
    rows: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["games"] if path.exists() else {}
    about = {"machine": processor(), "seconds": options.seconds, "steps": MOST_STEPS}
    for file in installed_games():
        name, game = file.stem, Game.load(file.stem)
        row = {} if name in options.games else rows.get(name, {})
        if (options.games and name not in options.games) or not two_roles(game):
            continue
        before = json.dumps(row)
        row |= {"title": title_of(game.text)[0], "kind": folder_of(file)}
        small = not hides(game.rules) and len(ground(game.rules).bases) <= MOST_FACTS
        if small and "values" not in row and row.get("tried_minutes", 0.0) < options.solve:
            row |= solved(name, 60 * options.solve) | {"tried_minutes": options.solve}
            if "values" in row:
                row.pop("unsolved", None)
        if "player" not in row:
            limit = 120 * options.minutes + 60
            found, why = call(played, (name, options.seconds, options.minutes), ["ggp.game"], limit)
            row |= found or {"unplayed": why}
        rows[name] = row
        path.write_text(json.dumps({**about, "games": rows}, indent=1) + "\n", encoding="utf-8")
        if json.dumps(row) != before:
            sys.stderr.write(f"{name}: {json.dumps(row)}\n")
    kept = json.loads(path.read_text(encoding="utf-8"))
    (options.folder / "leaderboard.md").write_text(page(kept), encoding="utf-8")


def page(kept: dict[str, Any]) -> str:
    """The page of the rows, sorted by kind and title."""
    rows = sorted(kept["games"].items(), key=lambda item: (item[1]["kind"], item[1]["title"]))
    lines, sources = [], []
    for name, row in rows:
        value = ", ".join(str(goal) for goal in row["values"].values()) if "values" in row else "–"
        if name in KNOWN and "values" not in row:
            value = KNOWN[name][0]
            sources.append(f"{row['title']}: {KNOWN[name][1]}.")
        states = f"{row['states']:,}" if "states" in row else "–"
        scores = [row.get(opponent) for opponent in OPPONENTS]
        points = [f"{one['points']:.0f} ({one['matches']})" if one else "–" for one in scores]
        rate = f"{row['playouts_per_s']:,}" if "playouts_per_s" in row else "–"
        cells = (f"{row['title']} (`{name}`)", value, states, row.get("player", "–"), *points, rate)
        lines.append(f"| {' | '.join(cells)} |")
    about = {key: kept[key] for key in ("machine", "seconds", "steps")}
    solved_here = sum("values" in row for _, row in rows)
    text = PAGE.format(games=len(rows), solved=solved_here, **about) + "\n".join(lines)
    return f"{text}\n\nKnown results: {' '.join(sources)}\n"


if __name__ == "__main__":
    main()
