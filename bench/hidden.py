"""How well do players do in games of hidden information?

    python -m bench.hidden montyhall expectimax --games 10000
    python -m bench.hidden blindtictactoe expectimax random --games 200 --seconds 1

Players in role order, chance left out; each knows its own moves and percepts alone. Prints per role the mean
result with its 95 % interval, how often each first move of the first role was chosen, and turns and CPU
seconds per match.
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
from players.belief.belief import Belief, Observed
from players.player import Player
from players.registry import make_player


def play(
    machine: Machine, players: dict[int, Player], rng: random.Random, seconds: float
) -> tuple[list[int], list[str]]:
    """One match, in which chance draws by ``rng``: the results of all roles, and the first role's moves."""
    roles = range(len(machine.roles))
    state, first = machine.initial_state(), min(players)
    beliefs = {role: Belief(machine, role) for role in players}
    made: list[str] = []
    while not machine.is_terminal(state):
        joint = []
        for role in roles:
            options = machine.legal_moves(state, role)
            if len(options) == 1:
                joint.append(options[0])
            elif role in players:
                deadline = time.monotonic() + seconds
                joint.append(players[role].choose_from(beliefs[role], deadline).move)
                if role == first:
                    made.append(str(machine.move(role, joint[-1])))
            else:
                joint.append(rng.choice(options))
        seen = machine.percepts(state, joint)
        state = machine.next_state(state, joint)
        if not machine.is_terminal(state):
            for role, belief in beliefs.items():
                belief.update(Observed(machine.move(role, joint[role]), seen[role]))
    return [machine.result(state, role) or 0 for role in roles], made


def measure(name: str, specs: Sequence[str], games: int, seconds: float, seed: int, level: str) -> None:
    """Play many matches and print what came of them."""
    console = Console(soft_wrap=True)
    machine = Game.load(name).machine(level)
    roles = playing(machine.roles)
    names = [*specs, *["random"] * (len(roles) - len(specs))]
    players = {role: make_player(spec, seed * 64 + role) for role, spec in zip(roles, names, strict=True)}
    for role, player in players.items():
        player.start(machine, role, machine.initial_state(), 0.0, time.monotonic())
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


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game")
    parser.add_argument("players", nargs="*", help="random for those left out")
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1.0, help="for each choice")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--machine", default="auto")
    told = parser.parse_args()
    measure(told.game, told.players, told.games, told.seconds, told.seed, told.machine)


if __name__ == "__main__":
    main()
