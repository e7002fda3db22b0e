"""Do native machine, propnet and prover say the same, step by step? Propnet on all lanes, prover on a few.

    python -m bench.lockstep GAME.kif... [--steps 10000000] [--prover-steps 300] [--seed 0]

512 random matches go on side by side, and begin again when they are over. At every step both machines with
lanes evaluate all of them (legal moves, terminal, goals), a random joint move is made in each, and the next
records are compared; now and then the prover evaluates the state of one of them. A game ends with the first
difference; the exit status is 1 if there was one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine
from ggp.game import Game
from propnet.jit.vector512 import LANES
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine


@dataclass(frozen=True)
class LockstepResult:
    """Of one game: lane steps compared, those of them with the prover, share compiled, and the first
    difference (empty: none)."""

    game: str
    steps: int
    prover_steps: int
    compiled: float
    difference: str


def compare(game: Game, steps: int, prover_steps: int, seed: int = 0) -> LockstepResult:
    """Play matches on all machines of a game until ``steps`` lane steps are compared."""
    slow = game.machine("propnet")
    assert isinstance(slow, PropnetMachine)
    fast = native_machine(game.rules, slow.network, seconds=60.0)
    prover = game.machine("prover")
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    start = slow.records([slow.initial_state()])
    records = np.repeat(start, LANES, axis=0)
    every = max(1, steps // LANES // max(1, prover_steps))
    done = proven = 0
    difference = ""
    for batch in range(-(-steps // LANES)):
        ours, theirs = slow.evaluate(records), fast.evaluate(records)
        if any((getattr(ours, x) != getattr(theirs, x)).any() for x in ("terminal", "goals", "legal")):
            difference = "what holds in a state, native and propnet"
            break
        legal = unpack(ours.legal, slow.network.move_count)
        moves, stuck = _random_moves(slow, legal, numbers)
        after = slow.successors(records, moves)
        if (after != fast.successors(records, moves)).any():
            difference = "the state after a joint move, native and propnet"
            break
        if batch % every == 0:
            lane = rng.randrange(LANES)
            over = bool(stuck[lane] or ours.terminal[lane])
            difference = _differs(slow, prover, records[lane], None if over else moves[lane], after[lane])
            proven += 1
            if difference:
                break
        done += LANES
        records = np.where((ours.terminal | stuck)[:, None], start, after)
    return LockstepResult(game.name, done, proven, fast.compiled, difference)


def _random_moves(
    machine: PropnetMachine, legal: NDArray[np.bool_], numbers: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """A random legal joint move per lane, int32 (lanes, roles), and which lanes have none."""
    columns = []
    stuck = np.zeros(len(legal), np.bool_)
    for low, high in pairwise(machine.role_moves.tolist()):
        own = legal[:, low:high]
        stuck |= ~own.any(axis=1)
        columns.append((own * numbers.random(own.shape, np.float32)).argmax(axis=1))
    return np.stack(columns, axis=1).astype(np.int32), stuck


def _differs(
    machine: PropnetMachine,
    prover: Machine,
    record: NDArray[np.uint64],
    joint: NDArray[np.int32] | None,
    after: NDArray[np.uint64],
) -> str:
    """What the prover says otherwise of a state and its successor; empty if all is the same."""
    ours = machine.states(record[None, :].copy())[0]
    theirs = prover.state_of(ours.propositions)
    roles = range(len(machine.roles))
    if ours.terminal != theirs.terminal:
        return f"terminal in {ours.to_kif()}"
    if ours.goals != theirs.goals and ours.terminal:
        return f"goals in {ours.to_kif()}"
    if any(sorted(ours.legal[r]) != sorted(theirs.legal[r]) for r in ours.legal):
        return f"legal moves in {ours.to_kif()}"
    if joint is None:
        return ""
    moves = [prover.move_id(r, machine.move(r, int(joint[r]))) for r in roles]
    following = machine.states(after[None, :].copy())[0]
    if following.propositions != prover.next_state(theirs, moves).propositions:
        return f"the state after {ours.to_kif()}"
    return ""


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.lockstep", description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="+", help="names of our games or .kif files")
    parser.add_argument("--steps", type=int, default=1_000_000, help="lane steps per game")
    parser.add_argument("--prover-steps", type=int, default=300, help="of them also with the prover")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    failed = 0
    for name in given.games:
        began = time.process_time()
        result = compare(Game.load(name), given.steps, given.prover_steps, given.seed)
        failed += bool(result.difference)
        print(
            f"{result.game}: {result.steps:,} lane steps, {result.prover_steps} with the prover, "
            f"{result.compiled:.0%} native, {time.process_time() - began:.0f} s: "
            f"{result.difference or 'no difference'}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
