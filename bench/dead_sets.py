"""What dead sets are found in one-player games, and what rollouts gain by them.

    python -m bench.dead_sets GAME.kif... [--most 3] [--effort 1000000000] [--states 300000]

For each game: minimal dead sets of one, two, three variables; CPU seconds to find them and to make gates of
them; and of rollouts with equal chances, without and with the gates, which share comes to the target goal,
and how many there are per CPU second. Where all states of the game can be visited, each set is checked on
all of them, and two exact figures are added: the share of fatal moves (from a state that leads to the
target to one that does not) that the sets name at once, and the share of rollouts that make a fatal move,
without and with the gates.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gdl.errors import GdlError, TooLargeError
from gdl.grounding.graph import spread
from ggp.game import Game
from players.puzzles.dead_sets.search import EFFORT, DeadSetReport, dead_sets
from propnet.expander import Expander
from propnet.kernels.records import unpack
from propnet.machine import PropnetMachine
from propnet.nogoods import with_nogoods

_ROLLOUTS, _LONGEST = 20_000, 300
_LOOKED_AT = 2_000

HEADER = (
    "| game | states | variables | sets of 1, 2, 3 | find, s | gates, s | gate inputs | fatal moves named |"
    " fatal rollouts | solved | rollouts/s |\n|---|---|---|---|---|---|---|---|---|---|---|"
)


MOST = 1_000_000
"""States that are visited unless told otherwise."""
_FRONT = 1 << 13


@dataclass(frozen=True, slots=True)
class AllStates:
    """The states that can be reached from the initial one.

    Attributes:
        records: uint64, shape (n, words); the initial state is row 0.
        alive: bool, shape (n,): whether an end with the wanted goal can be reached.
        source, target: int64, shape (transitions,): rows of states and of their successors.
    """

    records: NDArray[np.uint64]
    alive: NDArray[np.bool_]
    source: NDArray[np.int64]
    target: NDArray[np.int64]


def all_states(machine: PropnetMachine, goal: int, most: int = MOST) -> AllStates:
    """Visit all states, and look back from the ends with at least this goal. Raises TooLargeError for more
    than ``most`` states."""
    numbers: dict[bytes, int] = {}
    front = machine.records([machine.initial_state()]).copy()
    numbers[front[0].tobytes()] = 0
    layers, sources, targets = [front], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    expander = Expander(machine, _FRONT)
    first = 0
    while len(front):
        fresh: list[NDArray[np.uint64]] = []
        for chunk in expander.stream(front):
            found = np.empty(len(chunk), np.int64)
            for row, key in enumerate(map(bytes, chunk.records)):
                number = numbers.get(key)
                if number is None:
                    number = numbers[key] = len(numbers)
                    fresh.append(chunk.records[row].copy())
                found[row] = number
            sources.append(first + chunk.parents.astype(np.int64))
            targets.append(found)
            if len(numbers) > most:
                raise TooLargeError(f"the game has more than {most:,} states")
        first += len(front)
        front = np.array(fresh, np.uint64).reshape(-1, machine.words)
        layers.append(front)
    records = np.concatenate(layers)
    outputs = machine.evaluate(records)
    alive = outputs.terminal & (outputs.goals[:, 0] >= goal)
    source, target = np.concatenate(sources), np.concatenate(targets)
    spread(alive, target, source)
    return AllStates(records, alive, source, target)


@dataclass(frozen=True, slots=True)
class Rolled:
    """Of rollouts: the share that came to the target, the CPU seconds of one, the share that made a fatal
    move (-1 where that is not known)."""

    solved: float
    seconds: float
    fatal: float


def contained(bits: NDArray[np.bool_], sets: tuple[tuple[int, ...], ...]) -> NDArray[np.bool_]:
    """Which states, bool (n, bases), contain one of the sets."""
    found = np.zeros(len(bits), np.bool_)
    for nogood in sets:
        found |= np.all([bits[:, (x >> 1) - 1] ^ bool(x & 1) for x in nogood], axis=0)
    return found


def named_at_once(states: AllStates, machine: PropnetMachine, found: DeadSetReport) -> float:
    """The share of fatal moves, over all states alike, that complete a dead set; -1 where there are none.
    Raises GdlError if a state that leads to the target contains one."""
    named = contained(unpack(states.records, len(machine.network.bases)), found.sets)
    if (named & states.alive).any():
        raise GdlError("a state that contains a dead set leads to the goal: this is an error of the analysis")
    fatal = states.alive[states.source] & ~states.alive[states.target]
    return float(named[states.target[fatal]].mean()) if fatal.any() else -1.0


def roll(machine: PropnetMachine, target: int, states: AllStates | None, seed: int = 0) -> Rolled:
    """Rollouts with equal chances on this machine."""
    machine.playouts(512, seed, max_steps=_LONGEST)
    began = time.process_time()
    machine.playouts(_ROLLOUTS, seed, max_steps=_LONGEST)
    seconds = (time.process_time() - began) / _ROLLOUTS
    last = _walk(machine, seed)
    outputs = machine.evaluate(last)
    solved = outputs.terminal & (outputs.goals[:, 0] >= target)
    fatal = -1.0
    if states is not None:
        # From a state that leads nowhere no way leads back: the last state tells it.
        alive = {record.tobytes() for record in states.records[states.alive]}
        fatal = float(np.mean([record.tobytes() not in alive for record in last]))
    return Rolled(float(solved.mean()), seconds, fatal)


def _walk(machine: PropnetMachine, seed: int) -> NDArray[np.uint64]:
    """The last records (n, words) of rollouts; a rollout that is left without a move is over."""
    rng = np.random.default_rng(seed)
    records = np.repeat(machine.records([machine.initial_state()]), _LOOKED_AT, axis=0)
    for _ in range(_LONGEST):
        outputs = machine.evaluate(records)
        legal = unpack(outputs.legal, machine.network.move_count)
        over = outputs.terminal | ~legal.any(axis=1)
        if over.all():
            break
        moves = np.where(legal, rng.random(legal.shape, np.float32), -1).argmax(axis=1)
        after = machine.successors(records, moves[:, None].astype(np.int32))
        records = np.where(over[:, None], records, after)
    return records


def row(name: str, most: int, effort: int, limit: int) -> str:
    """A row of the table."""
    game = Game.load(name)
    machine = game.machine("propnet")
    assert isinstance(machine, PropnetMachine)
    found = dead_sets(machine, most, effort)
    began = time.process_time()
    guided = with_nogoods(machine, found.sets)
    gates = time.process_time() - began
    target = found.target if found.target >= 0 else 100
    states = None
    with suppress(TooLargeError):
        states = all_states(machine, target, limit)
    named = named_at_once(states, machine, found) if states is not None else -1.0
    plain, better = roll(machine, target, states), roll(guided, target, states)

    def share(value: float) -> str:
        return f"{value:.1%}" if value >= 0 else "-"

    inputs = len(machine.network.gate_inputs), len(guided.network.gate_inputs)
    cells = (
        game.name,
        f"{len(states.records):,}" if states is not None else f"> {limit:,}",
        str(found.variables),
        ", ".join(map(str, found.sizes)) + (f" (goal {target})" if target != 100 else ""),
        f"{found.seconds:.2f}",
        f"{gates:.2f}",
        f"{inputs[0]:,} -> {inputs[1]:,}",
        share(named),
        f"{share(plain.fatal)} -> {share(better.fatal)}",
        f"{share(plain.solved)} -> {share(better.solved)}",
        f"{1 / plain.seconds:,.0f} -> {1 / better.seconds:,.0f}",
    )
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.dead_sets", description=__doc__.split("\n")[0])
    parser.add_argument("games", nargs="+", help="names of our games or .kif files, of one role")
    parser.add_argument("--most", type=int, default=3, help="variables of a dead set, at most")
    parser.add_argument("--effort", type=int, default=EFFORT, help="gate inputs, each for 64 cases")
    parser.add_argument("--states", type=int, default=300_000, help="visit all states of games with no more")
    given = parser.parse_args()
    print(HEADER, flush=True)
    failed = 0
    for name in given.games:
        try:
            print(row(name, given.most, given.effort, given.states), flush=True)
        except GdlError as error:
            failed = 1
            print(f"{name}: {error}", file=sys.stderr)
    return failed


if __name__ == "__main__":
    sys.exit(main())
