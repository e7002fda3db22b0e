"""What has to be said beside the result of a puzzle whose rules are doubtful."""

from __future__ import annotations

from gdl.ends import no_goal, stuck_in_play
from gdl.machine import State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules


def doubt_of(rules: Rules, last: State | None) -> str:
    """Where the line ends without one goal value, or why there may be no line; empty where nothing is odd.

    Args:
        rules: of the puzzle.
        last: where the line ends; None where no line was found.
    """
    if last is None:
        return stuck_in_play(ProverMachine(rules))
    if last.machine.goal(last, 0) is not None:
        return ""
    counts = last.machine.result(last, 0)
    return f"{no_goal(last, 0)}; {'the highest counts' if counts is not None else 'it counts as 0'}"
