"""Do native machine, propnet and prover say the same, step by step? Propnet on all lanes, prover on a few.

    python -m bench.lockstep GAME.kif... [--steps 10000000] [--prover-steps 300] [--seed 0]
    python -m bench.lockstep GAME.kif... --single [--steps 10000] [--grounding 60]

512 random matches go on side by side, and begin again when they are over. At every step both machines with
lanes evaluate all of them (legal moves, terminal, goals), a random joint move is made in each, and the next
records are compared; now and then the prover evaluates the state of one of them. A game ends with the first
difference; the exit status is 1 if there was one.

With ``--single`` the network settled on one state (:class:`propnet.single.one_state.OneState`) is compared
with the same network on all lanes: along random matches, in states of random bits, after random moves, legal
or not. Where a trace of the game lies in ``../traces``, that is replayed on single states, too. Games that do
not ground in so many CPU seconds are left out.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.scripts import command_line
from gdl.errors import GdlError
from gdl.grounding.limits import GroundLimits
from gdl.grounding.pipeline import ground
from gdl.machine import Machine, State
from ggp.game import Game
from ggp.traces import read_trace, verify_game
from propnet.build import build
from propnet.jit.vector512 import LANES
from propnet.kernels.records import pack, unpack
from propnet.machine import PropnetMachine
from propnet.native.machine import native_machine
from propnet.single.one_state import OneState


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


def network_machine(game: Game, grounding: float = 60.0) -> PropnetMachine:
    """The machine for single states. Raises TooLargeError where the game does not ground in so many CPU
    seconds."""
    return PropnetMachine(game.rules, build(ground(game.rules, GroundLimits(cpu_seconds=grounding))))


def compare_single(lanes: PropnetMachine, steps: int, seed: int = 0) -> tuple[str, int]:
    """Go from one state to the next, one at a time, until ``steps`` are compared with lanes: the first
    difference (empty: none), and the steps made."""
    one, rng, numbers = OneState(lanes.network), random.Random(seed), np.random.default_rng(seed)
    start = key = lanes.initial_state().key
    one.go(key)
    seen, made = [_said(one)], list[tuple[Hashable, list[int], Hashable]]()
    done = 0
    while done < steps:
        if rng.random() < _FAR:
            bits = numbers.random((1, len(lanes.network.bases))) < numbers.random() ** 3
            key = pack(bits).tobytes()
            one.go(key)
            seen.append(_said(one))
        if (one.terminal or not all(one.legal)) and rng.random() > _FAR:
            key = start
            one.go(key)
            seen.append(_said(one))
        may = [range(len(own)) for own in lanes.network.moves]
        options = may if rng.random() < _FAR or not all(one.legal) else one.legal
        if not all(may):
            break  # a role without moves: there is nothing but the first state
        joint = [rng.choice(moves) for moves in options]
        made.append((key, joint, key := one.play(key, joint)))
        seen.append(_said(one))
        done += 1
        if len(seen) >= LANES or done == steps:
            if difference := _single_differs(lanes, seen, made):
                return difference, done
            seen, made = [], []
    return _single_differs(lanes, seen, made), done


_FAR = 0.1
"""How often a state of random bits, a move that is not legal, a state beyond an end is looked at."""
_Said = tuple[Hashable, bool, list[list[int]], list[int], list[int]]
"""A state's key, whether it is terminal, the legal moves of each role, its only goals, its highest ones."""


def _said(one: OneState) -> _Said:
    """What one state says of itself; -1 for no goal."""
    roles = range(len(one.legal))
    only, best = [one.goal(role) for role in roles], [one.result(role) for role in roles]
    told = ([-1 if value is None else value for value in values] for values in (only, best))
    return one.key, bool(one.terminal), [list(moves) for moves in one.legal], *told


def _single_differs(
    lanes: PropnetMachine, seen: list[_Said], made: list[tuple[Hashable, list[int], Hashable]]
) -> str:
    """What lanes say otherwise of these states and joint moves; empty if all is the same."""
    if seen:
        records = lanes.records([State(lanes, key) for key, *_ in seen])
        alone, highest = lanes.evaluate(records, single=True), lanes.evaluate(records)
        legal = unpack(alone.legal, lanes.network.move_count)
        bounds = list(pairwise(lanes.role_moves.tolist()))
        for row, (_, terminal, moves, only, best) in enumerate(seen):
            ours = [np.flatnonzero(legal[row, low:high]).tolist() for low, high in bounds]
            theirs = (bool(alone.terminal[row]), ours, alone.goals[row].tolist(), highest.goals[row].tolist())
            if (terminal, moves, only, best) != theirs:
                return f"what holds in {lanes.states(records[row : row + 1])[0].to_kif()}"
    if made:
        records = lanes.records([State(lanes, before) for before, _, _ in made])
        after = lanes.successors(records, np.array([joint for _, joint, _ in made], np.int32))
        for row, (_, joint, key) in enumerate(made):
            if after[row].tobytes() != key:
                return f"the state after {joint} in {lanes.states(records[row : row + 1])[0].to_kif()}"
    return ""


def replay(machine: Machine, path: Path) -> tuple[str, int]:
    """The first difference between a machine's single states and the trace of the game's file, and the states
    compared; none where there is no trace."""
    trace = path.parent.parent / "traces" / f"{path.stem}.jsonl.gz"
    if not trace.is_file():
        return "", 0
    fault, states = verify_game(machine, read_trace(trace))
    return fault or "", states


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
    parser = command_line(__doc__)
    parser.add_argument("games", nargs="+", help="names of our games or .kif files")
    parser.add_argument("--steps", type=int, default=1_000_000, help="lane steps per game")
    parser.add_argument("--prover-steps", type=int, default=300, help="of them also with the prover")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--single", action="store_true", help="single states against lanes, and traces")
    parser.add_argument("--grounding", type=float, default=60.0, help="CPU seconds, with --single")
    given = parser.parse_args()
    failed = 0
    for name in given.games:
        began = time.process_time()
        if given.single:
            failed += _tell_single(name, given.steps, given.seed, given.grounding)
            continue
        result = compare(Game.load(name), given.steps, given.prover_steps, given.seed)
        failed += bool(result.difference)
        print(
            f"{result.game}: {result.steps:,} lane steps, {result.prover_steps} with the prover, "
            f"{result.compiled:.0%} native, {time.process_time() - began:.0f} s: "
            f"{result.difference or 'no difference'}",
            flush=True,
        )
    return 1 if failed else 0


def _tell_single(name: str, steps: int, seed: int, grounding: float) -> bool:
    """Compare one game's single states and print what came of it; whether there was a difference."""
    began = time.process_time()
    try:
        lanes = network_machine(Game.load(name), grounding)
        (difference, done), (fault, states) = (
            compare_single(lanes, steps, seed),
            replay(lanes, Path(name)),
        )
    except GdlError as error:
        print(f"{name}: left out: {error}", flush=True)
        return False
    print(
        f"{Path(name).stem}: {done:,} single steps, {states:,} states of a trace, "
        f"{time.process_time() - began:.1f} s: {difference or fault or 'no difference'}",
        flush=True,
    )
    return bool(difference or fault)


if __name__ == "__main__":
    sys.exit(main())
