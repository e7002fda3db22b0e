"""How well do players do in games of hidden information?

    python -m bench.hidden montyhall expectimax --games 10000
    python -m bench.hidden blindtictactoe expectimax random --games 200 --seconds 1
    python -m bench.hidden blindtictactoe ismcts pimc --duel --games 400 --seconds 0.2

Players in role order, chance left out; each knows its own moves and percepts alone. Prints per role the mean
result with its 95 % interval, how often each first move of the first role was chosen, and turns and CPU
seconds per match. With --duel two players change seats after each match, and a sequential test stops them as
soon as it is clear whether the first is 50 Elo stronger or not stronger at all.

The players' clocks count CPU seconds of this process.
"""

from __future__ import annotations

import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from bench.scripts import Ask, clocks_of_cpu_time, command_line, half_width, play, ready
from gdl.information import playing
from gdl.machine import Machine
from ggp.game import Game
from ggp.tournament.statistics.ratings import Sprt
from players.belief.belief import Belief, observed
from players.match import Match
from players.player import Choice, Player

TEST = Sprt(0.0, 50.0)


def believing(player: Player, belief: Belief, seconds: float) -> Ask:
    """Ask a player by what its role believes after the steps so far."""
    learnt = 0

    def ask(match: Match) -> Choice:
        nonlocal learnt
        for step in match.steps[learnt:]:
            belief.update(observed(step.state, step.joint)[belief.role])
        learnt = match.at
        return player.choose_from(belief, time.monotonic() + seconds)

    return ask


def played(machine: Machine, players: dict[int, Player], rng: random.Random, seconds: float) -> Match:
    """One match, in which chance draws by ``rng``."""
    beliefs = {role: Belief(machine, role) for role in players}
    seats = {role: believing(player, beliefs[role], seconds) for role, player in players.items()}
    return play(Match(machine, rng), seats)


def seated(machine: Machine, specs: Sequence[str], seed: int, start: float) -> dict[int, Player]:
    """Players of all roles but chance, in their order, ready for the first match."""
    roles = playing(machine.roles)
    return {
        role: ready(spec, seed + role, machine, role, startclock=start)
        for role, spec in zip(roles, specs, strict=True)
    }


def measure(
    name: str, specs: Sequence[str], games: int, seconds: float, seed: int, level: str, start: float
) -> None:
    """Play many matches and print their results."""
    console = Console(soft_wrap=True)
    machine = Game.load(name).machine(level)
    roles = playing(machine.roles)
    names = [*specs, *["random"] * (len(roles) - len(specs))]
    players = seated(machine, names, 64 * seed, start)
    rng, began = random.Random(seed), time.process_time()
    results: list[list[int]] = []
    firsts: Counter[str] = Counter()
    turns = 0
    for _ in range(games):
        match = played(machine, players, rng, seconds)
        results.append(match.results)
        made = [step.joint[roles[0]] for step in match.steps if roles[0] in step.choices]
        firsts.update(str(machine.move(roles[0], move)) for move in made[:1])
        turns += len(made)
    for role, spec in zip(roles, names, strict=True):
        own = [goals[role] for goals in results]
        mean, wide = statistics.mean(own), half_width(own)
        console.print(f"{name}: {machine.roles[role]} ({spec}) {mean:.2f} +- {wide:.2f}")
    shares = ", ".join(f"{move} {count / games:.2f}" for move, count in firsts.most_common(4))
    cpu = (time.process_time() - began) / games
    console.print(
        f"first moves: {shares}; {turns / games:.2f} choices and {cpu:.3f} CPU s per match, {games:,} matches"
    )


def duel(
    name: str, specs: Sequence[str], games: int, seconds: float, seed: int, level: str, start: float
) -> None:
    """Play pairs of matches with seats changed, until the test is decided, and print the score."""
    machine = Game.load(name).machine(level)
    roles = playing(machine.roles)
    first, second = specs
    both = [
        seated(machine, order, 64 * seed + 8 * number, start)
        for number, order in enumerate(((first, second), (second, first)))
    ]
    scores: list[float] = []
    verdict = ""
    while 2 * len(scores) < games and not verdict:
        results = [
            played(machine, players, random.Random(f"{seed} {len(scores)}"), seconds).results[roles[number]]
            for number, players in enumerate(both)
        ]
        scores.append(statistics.mean(results) / 100)
        verdict = TEST.verdict(scores)
    found = {"H1": "stronger", "H0": "not 50 Elo stronger", "": "not decided"}[verdict]
    Console(soft_wrap=True).print(
        f"{name}: {first} against {second} {100 * statistics.mean(scores):.1f} +- "
        f"{100 * half_width(scores):.1f} in {2 * len(scores)} matches: {found}"
    )


def main() -> None:
    """Read the command line, and measure."""
    parser = command_line(__doc__)
    parser.add_argument("game")
    parser.add_argument("players", nargs="*", help="random for those left out")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each choice")
    parser.add_argument("--start", type=float, default=0.0, help="seconds to prepare before the first match")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--machine", default="auto")
    parser.add_argument("--duel", action="store_true", help="two players against each other, seats changed")
    told = parser.parse_args()
    clocks_of_cpu_time()
    (duel if told.duel else measure)(
        told.game, told.players, told.games, told.seconds, told.seed, told.machine, told.start
    )


if __name__ == "__main__":
    main()
