"""Two tunings of the search against each other, at equal CPU time: which plays better?

    python -m bench.duel GAME.kif policy=averages policy=equal --seconds 0.3 --pairs 20

Each opening of random moves is played twice, with seats changed; with more than two roles the one that plays
against all others sits elsewhere in each pair. A tuning is fields of ``Tuning``
(:mod:`players.uct.tuning`), with commas between them, or - for the usual one. Both search with the same
machine in this process, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from bench.scripts import command_line
from ggp.game import Game
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import summary
from players.kaskade.guided_machine import guided
from players.options import Option, at_least, number_between, read_options, switch
from players.uct.training.duel import LONGEST, PLIES, Series
from players.uct.tuning import TUNING_OPTIONS, Tuning
from propnet.native.machine import NativeMachine

SWITCHES: dict[str, Callable[[str], object]] = {
    "paths": at_least(1),
    "per_leaf": at_least(0),
    "decisive": switch,
    "trim": switch,
    "knowledge_share": number_between(0.0, 1.0),
    "looks": switch,
    "lead": switch,
    "minimax": number_between(0.0, 1.0),
}
"""What experiments alone set, and how it is read; names of players choose the rest, too."""


def tuning_of(text: str) -> Tuning:
    """The tuning that options ask for.

    Raises:
        GdlError: there is no such option, or its value is none.
    """
    usual = Tuning()
    switches = (Option(name, read, getattr(usual, name), "") for name, read in SWITCHES.items())
    parts = (part.partition("=") for part in text.split(",")) if text != "-" else ()
    texts = [(key, value) for key, _, value in parts]
    chosen: dict[str, Any] = read_options("a search", (*TUNING_OPTIONS, *switches), texts, text)
    return replace(usual, **chosen)


def main() -> None:
    """Play, and print the score after every pair."""
    parser = command_line(__doc__)
    parser.add_argument("game")
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--seconds", type=float, default=0.1, help="CPU seconds for a move")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--plies", type=int, default=PLIES, help="random moves to begin with")
    parser.add_argument("--longest", type=int, default=LONGEST, help="joint moves after which it is drawn")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    native = Game.load(given.game).machine("native")
    if len(native.roles) < 2:
        parser.error("the game must have several roles")
    assert isinstance(native, NativeMachine)
    machine = guided(native)
    tunings = tuning_of(given.first), tuning_of(given.second)
    series = Series(machine, tunings, given.seed, given.longest, given.plies)
    score = Tally()
    for _ in range(given.pairs):
        for result in series.play(given.seconds):
            score.add(result, 1.0)
        print(f"{given.first} against {given.second}: {summary(score)}", flush=True)


if __name__ == "__main__":
    main()
