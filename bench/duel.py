"""Two tunings of the search against each other, at equal CPU time: which plays better?

    python -m bench.duel GAME.kif policy=averages policy=equal --seconds 0.3 --pairs 20

For games of two roles. Each opening of random moves is played twice, with seats changed. A tuning is options
of ``uct``, with commas between them, or - for the usual ones. Both search with the same machine in this
process, one after the other, and neither proves anything unless told to (``prove=1``).
"""

from __future__ import annotations

import argparse
import math
import random
import time
from dataclasses import replace
from typing import Any

from gdl.machine import Machine, State
from ggp.game import Game
from ggp.tournament.openings import Openings, in_order
from ggp.tournament.statistics.scores import Tally, compare
from players.kaskade.guided_machine import guided
from players.options import read_options
from players.uct.root_statistics import rank, strategy
from players.uct.search import Search
from players.uct.tuning import Tuning, tuning_options
from propnet.native.machine import NativeMachine

_SURE = 1.96
"""Standard errors of a 95 % interval."""
_LONGEST = 500
"""Joint moves after which a match is drawn."""
_LEAST = 0.02
"""Seconds for which a batch is planned at least: CPU time may be left where the clock has gone on."""


def summary(score: Tally) -> str:
    """What the first tuning has got, with Wilson's interval of its share."""
    games, share = max(1.0, score.games), score.score
    # Draws make it rather too wide than too narrow.
    middle = (share + _SURE**2 / games / 2) / (1 + _SURE**2 / games)
    width = _SURE * math.sqrt(share * (1 - share) / games + (_SURE / games / 2) ** 2) / (1 + _SURE**2 / games)
    return (
        f"{share * score.games:g} of {score.games:g} ({score.wins:g} won, {score.draws:g} drawn,"
        f" {score.losses:g} lost; 95 % interval {middle - width:.0%} to {middle + width:.0%})"
    )


def tuning_of(text: str) -> Tuning:
    """The tuning that options ask for.

    Raises:
        GdlError: there is no such option, or its value is none.
    """
    usual = Tuning(prove=False)
    parts = (part.partition("=") for part in text.split(",")) if text != "-" else ()
    texts = [(key, value) for key, _, value in parts]
    chosen: dict[str, Any] = read_options("a search", tuning_options(usual), texts, text)
    return replace(usual, **chosen)


def opening(openings: Openings, machine: Machine, number: int) -> State:
    """The state after the opening of a round, numbered from 1; the match goes on in it."""
    state = machine.initial_state()
    for joint in openings.of_round(number):
        state = machine.next_state(state, joint)
    return state


def choose(search: Search, state: State, role: int, seconds: float, rng: random.Random) -> int:
    """The move that a search of so many CPU seconds finds best."""
    machine = search.machine
    options = in_order(machine, role, machine.legal_moves(state, role))
    if len(options) == 1:
        return options[0]
    search.set_root(state)
    end = time.process_time() + seconds
    while (left := end - time.process_time()) > 0.0 and not search.finished:
        search.step(time.monotonic() + max(left, _LEAST))
    statistics = search.statistics()
    if statistics.mixed and statistics.value < 0:
        return rng.choices(options, strategy(statistics, role).tolist())[0]
    return options[rank(statistics, role).best]


def play(
    machine: Machine,
    state: State,
    tunings: tuple[Tuning, Tuning],
    seconds: float,
    seed: int,
    longest: int = _LONGEST,
) -> list[int]:
    """The results of both roles in a match from a state; role 0 has the first tuning. Without an end after
    ``longest`` joint moves both have got the same: there are games in which roles may wait for ever."""
    rng = random.Random(seed)
    searches = []
    for role, tuning in enumerate(tunings):
        searches.append(Search(role, 2 * seed + role, tuning))
        searches[role].set_machine(machine)
    for _ in range(longest):
        if machine.is_terminal(state):
            break
        joint = [choose(search, state, role, seconds, rng) for role, search in enumerate(searches)]
        state = machine.next_state(state, joint)
    if not machine.is_terminal(state):
        return [0, 0]
    return [machine.result(state, role) or 0 for role in range(2)]


def main() -> None:
    """Play, and print the score after every pair."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("game")
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--seconds", type=float, default=0.1, help="CPU seconds for a move")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--plies", type=int, default=4, help="random moves to begin with")
    parser.add_argument("--longest", type=int, default=_LONGEST, help="joint moves after which it is drawn")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    native = Game.load(given.game).machine("native")
    if len(native.roles) != 2:
        parser.error("the game must have two roles")
    assert isinstance(native, NativeMachine)
    machine = guided(native)
    tunings = tuning_of(given.first), tuning_of(given.second)
    openings = Openings(machine, given.plies, given.seed)
    score = Tally()
    for pair in range(given.pairs):
        state = opening(openings, machine, pair + 1)
        for seat in (0, 1):
            seated = tunings if seat == 0 else tunings[::-1]
            match_seed = given.seed * 1009 + 2 * pair + seat
            goals = play(machine, state, seated, given.seconds, match_seed, given.longest)
            score.add(compare(goals[seat], goals[1 - seat]), 1.0)
        print(f"{given.first} against {given.second}: {summary(score)}", flush=True)


if __name__ == "__main__":
    main()
