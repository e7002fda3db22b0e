"""How many positions of random matches do proof-number search and UCT prove, and how fast?

    python -m bench.prove GAME.kif --plies 20 --positions 30 --seconds 10

Positions that the first look decides (somebody wins with the next move) are counted apart. Seconds are CPU
time.
"""

from __future__ import annotations

import argparse
import random
import time
from itertools import islice

from bench.positions import random_state
from gdl.machine import State
from ggp.game import Game
from players.kaskade.make_machine import make_machine
from players.proof.search import Proof
from players.uct.search import Search
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine

_SLICE = 0.05


def positions(machine: PropnetMachine, plies: int, count: int, seed: int) -> list[State]:
    """States after so many random joint moves in which the match goes on; fewer, if matches end before."""
    rng = random.Random(seed)
    states = (random_state(machine, plies, rng) for _ in range(100 * count))
    return list(islice((state for state in states if not machine.is_terminal(state)), count))


def by_proof(machine: PropnetMachine, state: State, seconds: float) -> tuple[int, float, int]:
    """The proven value or -1, the CPU seconds it took, and the states that were opened."""
    proof = Proof(machine)
    began = time.process_time()
    proof.set_root(machine.records([state])[0])
    while not proof.finished and time.process_time() - began < seconds:
        proof.step(time.monotonic() + _SLICE)
    value = proof.bounds.low if proof.bounds.exact else -1
    return value, time.process_time() - began, proof.opened


def by_uct(machine: PropnetMachine, state: State, seconds: float) -> tuple[int, float]:
    """The same for the proofs that UCT finds on its way."""
    search = Search(0, 1, Tuning())
    search.set_machine(machine)
    began = time.process_time()
    search.set_root(state)
    while search.tree.proven < 0 and time.process_time() - began < seconds:
        if not search.step(time.monotonic() + 100.0):
            break
    return search.tree.proven, time.process_time() - began


def main() -> None:
    """Read the arguments, print a line for each position and a summary."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("game")
    parser.add_argument("--plies", type=int, default=20)
    parser.add_argument("--positions", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="leave out the positions before this one")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--uct", action="store_true", help="let UCT try as well")
    given = parser.parse_args()
    machine = make_machine(Game.load(given.game).rules, "native")
    assert isinstance(machine, PropnetMachine)
    states = positions(machine, given.plies, given.positions, given.seed)
    by_proof(machine, states[0], 0.2)
    easy = proven = proven_by_uct = tried = 0
    slowest = 0.0
    for number, state in enumerate(states[given.first :], given.first):
        value, seconds, opened = by_proof(machine, state, given.seconds)
        if value >= 0 and opened == 0:
            easy += 1
            continue
        tried += 1
        proven += value >= 0
        slowest = max(slowest, seconds)
        text = f"{number}: {value} in {seconds:.2f} s, {opened} states opened"
        if given.uct:
            uct_value, uct_seconds = by_uct(machine, state, given.seconds)
            proven_by_uct += uct_value >= 0
            text += f"; UCT: {uct_value} in {uct_seconds:.2f} s"
        print(text, flush=True)
    print(f"{easy} decided at the first look; of {tried} others {proven} proven, in {slowest:.2f} s at most")
    if given.uct:
        print(f"UCT proved {proven_by_uct} of these {tried}")


if __name__ == "__main__":
    main()
