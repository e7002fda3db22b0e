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

import argparse
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from gdl.information import playing
from gdl.machine import Machine
from ggp.game import Game
from ggp.tournament.statistics.ratings import Sprt
from players.belief.belief import Belief, observed
from players.match import Match
from players.player import Choice, Player
from players.registry import make_player

TEST = Sprt(0.0, 50.0)


def play(
    machine: Machine, players: dict[int, Player], rng: random.Random, seconds: float
) -> tuple[list[int], list[str]]:
    """One match, in which chance draws by ``rng``: the results of all roles, and the first role's moves."""
    match, first = Match(machine, rng), min(players)
    beliefs = {role: Belief(machine, role) for role in players}
    made: list[str] = []
    while not match.over:
        for role in match.waiting:
            if role in players:
                choice = players[role].choose_from(beliefs[role], time.monotonic() + seconds)
                if role == first:
                    made.append(str(machine.move(role, choice.move)))
            else:
                choice = Choice(match.draw(role))
            match.answer(role, choice)
        step = match.make()
        if not match.over:
            learnt = observed(step.state, step.joint)
            for role, belief in beliefs.items():
                belief.update(learnt[role])
    return match.results, made


def measure(
    name: str, specs: Sequence[str], games: int, seconds: float, seed: int, level: str, start: float
) -> None:
    """Play many matches and print what came of them."""
    console = Console(soft_wrap=True)
    machine = Game.load(name).machine(level)
    roles = playing(machine.roles)
    names = [*specs, *["random"] * (len(roles) - len(specs))]
    players = {role: make_player(spec, seed * 64 + role) for role, spec in zip(roles, names, strict=True)}
    for role, player in players.items():
        player.start(machine, role, machine.initial_state(), start, time.monotonic() + start)
    rng, began = random.Random(seed), time.process_time()
    results: list[list[int]] = []
    firsts: Counter[str] = Counter()
    turns = 0
    for _ in range(games):
        goals, moves = play(machine, players, rng, seconds)
        results.append(goals)
        firsts.update(moves[:1])
        turns += len(moves)
    for role, spec in zip(roles, names, strict=True):
        own = [goals[role] for goals in results]
        wide = 1.96 * statistics.stdev(own) / len(own) ** 0.5 if len(own) > 1 else 0.0
        console.print(f"{name}: {machine.roles[role]} ({spec}) {statistics.mean(own):.2f} +- {wide:.2f}")
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
    seats = []
    for number, order in enumerate(((first, second), (second, first))):
        seats.append(
            {
                role: make_player(spec, seed * 64 + 8 * number + role)
                for role, spec in zip(roles, order, strict=True)
            }
        )
        for role, player in seats[-1].items():
            player.start(machine, role, machine.initial_state(), start, time.monotonic() + start)
    scores: list[float] = []
    verdict = ""
    while 2 * len(scores) < games and not verdict:
        results = [
            play(machine, players, random.Random(f"{seed} {len(scores)}"), seconds)[0][roles[number]] / 100
            for number, players in enumerate(seats)
        ]
        scores.append(statistics.mean(results))
        verdict = TEST.verdict(scores)
    wide = 196 * statistics.stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0
    told = {"H1": "stronger", "H0": "not 50 Elo stronger", "": "not decided"}[verdict]
    Console(soft_wrap=True).print(
        f"{name}: {first} against {second} {100 * statistics.mean(scores):.1f} +- {wide:.1f} in"
        f" {2 * len(scores)} matches: {told}"
    )


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game")
    parser.add_argument("players", nargs="*", help="random for those left out")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each choice")
    parser.add_argument("--start", type=float, default=0.0, help="seconds to prepare before the first match")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--machine", default="auto")
    parser.add_argument("--duel", action="store_true", help="two players against each other, seats changed")
    told = parser.parse_args()
    time.monotonic = time.process_time  # type: ignore[assignment]
    (duel if told.duel else measure)(
        told.game, told.players, told.games, told.seconds, told.seed, told.machine, told.start
    )


if __name__ == "__main__":
    main()
