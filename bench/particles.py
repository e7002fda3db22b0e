"""How fast does a belief grow? Counts the joint moves that are played in possible states and filtered by what
a role perceived: particles.

    python -m bench.particles blindtictactoe
    python -m bench.particles kriegtictactoe --worlds 500 --effort 2000
    python -m bench.particles phantomconnect --matches 100 --turns 2000

plays random matches, and grows the belief of the first role in each, turn by turn. Counted is the processor
time of :meth:`players.belief.belief.Belief.update`, of one thread. The last line says how much more memory
the process has after all turns than after a quarter of them.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from itertools import cycle

import numpy as np
from rich.console import Console

from bench.scripts import command_line
from gdl.machine import Machine
from ggp.game import Game
from players.belief.belief import Belief, Observed
from players.processes.lifeline import resident_bytes


def learnt(machine: Machine, role: int, rng: random.Random) -> list[Observed]:
    """What a role learns of a random match, but for its last turn."""
    state, told = machine.initial_state(), []
    while True:
        joint = [rng.choice(moves) for moves in machine.options(state)]
        seen = machine.percepts(state, joint)[role]
        state = machine.next_state(state, joint)
        if machine.is_terminal(state):
            return told
        told.append(Observed(machine.move(role, joint[role]), seen))


def particles(belief: Belief, effort: int) -> int:
    """How many joint moves the belief plays in its next turn, where the role has made its move."""
    options = belief.world_machine.options(belief.worlds)
    counts = options.counts[options.open].astype(np.float64)
    counts[:, belief.role] = 1
    return min(effort, int(counts.prod(axis=1).sum()))


def measure(options: argparse.Namespace) -> None:
    """Grow beliefs, and print how fast that was."""
    machine = Game.load(options.game).machine(options.machine)
    rng = random.Random(options.seed)
    matches = [learnt(machine, 0, rng) for _ in range(options.matches)]
    tried, most, turns, seconds, exact = 0, 0, 0, 0.0, 0
    early = 0
    for number, told in enumerate(cycle(matches)):
        belief = Belief(machine, 0, worlds=options.worlds, effort=options.effort, seed=number)
        for seen in told:
            count = particles(belief, options.effort)
            began = time.process_time()
            belief.update(seen)
            if number:  # the first match warms up
                seconds += time.process_time() - began
                tried += count
                turns += 1
            most = max(most, len(belief))
            exact += belief.exact
        if turns < options.turns / 4:
            early = resident_bytes([os.getpid()])
        if turns >= options.turns:
            break
    console = Console(soft_wrap=True, highlight=False)
    console.print(
        f"{options.game} ({machine.level}): {tried / seconds:,.0f} particles/s, {tried / turns:,.0f} "
        f"particles and {1e6 * seconds / turns:,.0f} us a turn, {turns:,} turns"
    )
    grown = (resident_bytes([os.getpid()]) - early) / 2**20
    console.print(
        f"at most {most:,} states, exact in {exact:,} turns; {grown:+.1f} MB since the first quarter"
    )


def main() -> None:
    """Read the command line, and measure."""
    parser = command_line(__doc__)
    parser.add_argument("game")
    parser.add_argument("--matches", type=int, default=100, help="different ones, again and again")
    parser.add_argument("--turns", type=int, default=4000)
    parser.add_argument("--worlds", type=int, default=1_000_000)
    parser.add_argument("--effort", type=int, default=4_000_000)
    parser.add_argument("--machine", default="propnet")
    parser.add_argument("--seed", type=int, default=1)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
