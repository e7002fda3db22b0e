"""Saves a table's match as a record or as one HTML file."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from gdl.errors import GdlError
from gdl.terms import RANDOM
from ggp.game import Game
from ggp.protocol.match_record import MatchRecord
from ggp.web.replay.recorded import read_match
from ggp.web.replay.replay_process import ComparedMatch, Replay, as_page
from players.match import Match

FORMS = ("record", "html")


def keep(
    form: str,
    game: Game,
    title: str,
    seats: Sequence[str],
    match: Match,
    clock: float,
    seed: int,
) -> str:
    """The text of a file with all steps of a match.

    Args:
        form: ``record`` for JSON, ``html`` for a self-contained page.
        match: the match, of which all steps are kept.
        clock: seconds per move of a player.
        seed: the seed of the match's random draws.

    Raises:
        GdlError: there is no such form, or the file would be too long.
    """
    if form not in FORMS:
        raise GdlError(f"form {form!r} is unknown", remedy=f"one of {', '.join(FORMS)}")
    machine, steps, last = match.machine, match.steps, match.states[-1]
    roles = range(len(machine.roles))
    record = MatchRecord("Table", 0, max(1, round(clock)), seats, game=title, rules=game.kif, seed=seed)
    for state in match.states:
        record.add_state(state, [""] * len(roles))
    record.state_times = []  # people take steps back, so states have no times
    for step in steps:
        record.add_moves(step.state, step.joint)
    goals: list[int | None] = [None]
    if machine.is_terminal(last):
        goals = [0 if machine.roles[role] is RANDOM else machine.goal(last, role) for role in roles]
    record.completed = None not in goals
    record.goals = [goal for goal in goals if goal is not None]
    content = record.to_dict()
    if form == "record":
        return orjson.dumps(content).decode()
    replay = Replay(read_match(content), game)
    frames = [replay.frame(number) for number in range(len(steps) + 1)]
    words = {number: step.words for number, step in enumerate(steps, 1) if step.words}
    return as_page({**replay.story(), "title": title}, ComparedMatch(words=words), frames)
