"""Holds machines against each other, step by step: native = propnet on many lanes, both = prover on a few.

    python -m bench.lockstep GAME.kif... [--steps 10000000] [--prover-steps 300] [--seed 0]

512 random matches go on side by side. After every step all of them are evaluated by both machines
with lanes (legal moves, terminal, goals), a random joint move is made in each, and the records that
follow are compared. Matches that are over begin again. Along the way the prover is asked about the
state of one of them. The first difference ends a game with what differed; the exit status says if
there was one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gdl.machine import Machine
from ggp.game import Game
from propnet.jit.vector512 import LANES
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine


@dataclass(frozen=True)
class Outcome:
    """What came of one game: lane steps compared, those of them with the prover, share compiled,
    and the first difference (empty: none)."""

    game: str
    steps: int
    prover_steps: int
    compiled: float
    difference: str


def compare(game: Game, steps: int, prover_steps: int, seed: int = 0) -> Outcome:
    """Play matches on all machines of a game until ``steps`` lane steps are compared."""
    slow = game.machine("propnet")
    assert isinstance(slow, PropnetMachine)
    fast = native_machine(game.rules, slow.network, seconds=60.0)
    prover = game.machine("prover")
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    start = slow.records([slow.initial_state()])
    records = np.repeat(start, LANES, axis=0)
    every = max(1, steps // LANES // max(1, prover_steps))
    done = asked = 0
    difference = ""
    for batch in range(-(-steps // LANES)):
        answers, other = slow.evaluate(records), fast.evaluate(records)
        if not (
            (answers.terminal == other.terminal).all()
            and (answers.goals == other.goals).all()
            and (answers.legal == other.legal).all()
        ):
            difference = "what holds in a state, native and propnet"
            break
        legal = unpack(answers.legal, slow.network.move_count)
        moves, stuck = _random_moves(slow, legal, numbers)
        after = slow.successors(records, moves)
        if (after != fast.successors(records, moves)).any():
            difference = "the state after a joint move, native and propnet"
            break
        if batch % every == 0:
            lane = rng.randrange(LANES)
            over = bool(stuck[lane] or answers.terminal[lane])
            difference = _differs(slow, prover, records[lane], None if over else moves[lane], after[lane])
            asked += 1
            if difference:
                break
        done += LANES
        records = np.where((answers.terminal | stuck)[:, None], start, after)
    return Outcome(game.name, done, asked, fast.compiled, difference)


def _random_moves(
    machine: PropnetMachine, legal: NDArray[np.bool_], numbers: np.random.Generator
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """A random legal joint move per lane, int32 (lanes, roles), and which lanes have none."""
    columns = []
    stuck = np.zeros(len(legal), np.bool_)
    for low, high in pairwise(machine.role_moves.tolist()):
        some = legal[:, low:high]
        stuck |= ~some.any(axis=1)
        columns.append((some * numbers.random(some.shape, np.float32)).argmax(axis=1))
    return np.stack(columns, axis=1).astype(np.int32), stuck


def _differs(
    machine: PropnetMachine,
    prover: Machine,
    record: NDArray[np.uint64],
    joint: NDArray[np.int32] | None,
    after: NDArray[np.uint64],
) -> str:
    """What the prover says otherwise of a state and its successor; nothing if all is the same."""
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
    wanted = parser.parse_args()
    failed = 0
    for name in wanted.games:
        began = time.process_time()
        path = Path(name)
        game = Game.load(path if path.suffix == ".kif" else name)
        outcome = compare(game, wanted.steps, wanted.prover_steps, wanted.seed)
        failed += bool(outcome.difference)
        print(
            f"{outcome.game}: {outcome.steps:,} lane steps, {outcome.prover_steps} with the prover, "
            f"{outcome.compiled:.0%} native, {time.process_time() - began:.0f} s: "
            f"{outcome.difference or 'no difference'}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
