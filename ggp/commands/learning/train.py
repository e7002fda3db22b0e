"""``ggp train``: learns a game by self-play and saves the knowledge for later matches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import GameName
from ggp.commands.learning.knowledge import as_row
from ggp.printing import show

_PAIRS = 20
"""Pairs of matches of each trial, at most."""
_SEED = 0
"""Random seed of self-play and of the matches."""


def command(
    game: GameName,
    minutes: Annotated[float, typer.Option(help="Minutes of training.", min=0)] = 30.0,
    trial_minutes: Annotated[
        float, typer.Option(help="Additional minutes for the trials; 0: no trial.", min=0)
    ] = 10.0,
    move_seconds: Annotated[
        float,
        typer.Option(
            help="CPU seconds for each move of a trial: the nearer to those of your matches the better.",
            min=0.01,
        ),
    ] = 0.1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget everything learnt before.")] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write a page: the course, squares' worth, matches.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as one JSON object.")] = False,
) -> None:
    """Learn what a game's states are worth.

    Training is by self-play: first of weights for propositions and shapes of propositions, then, for most of
    the time, of a small net. After each of these, matches against the values in use (or the untrained
    player) decide whether searches use the new ones. Everything is saved under $GGP_CACHE/knowledge every
    half minute, and an interrupted training resumes from there. The knowledge also serves the same game
    under other names.
    """
    from gdl.errors import GdlError
    from gdl.information import Information, information_of
    from ggp.game import Game
    from ggp.training.lesson import Lesson, LessonTerms
    from ggp.training.trial import summary, worth
    from players.kaskade.guided_machine import guided
    from players.knowledge.store import KnowledgeStore
    from players.processes.limits import cores
    from propnet.capabilities import lane_machine
    from propnet.native.machine import NativeMachine

    if report is not None:
        from ggp.commands import check_writable

        check_writable(report)
    loaded = Game.load(game)
    if information_of(loaded.rules) is Information.HIDDEN:
        raise GdlError(
            f"{loaded.name} is a game of {information_of(loaded.rules)}: values of states are not learnt",
            remedy="`expectimax`, `pimc` and `ismcts` play it without",
        )
    machine = lane_machine(loaded.machine("auto"))
    if machine is None:
        raise GdlError("the game is too large for a network", remedy="it is played without knowledge")
    playing = guided(machine) if isinstance(machine, NativeMachine) else machine
    pairs = _PAIRS if trial_minutes else 0
    terms = LessonTerms(60.0 * minutes, 60.0 * trial_minutes, pairs, move_seconds, cores(), fresh, _SEED)
    lesson = Lesson(machine, playing, loaded.name, KnowledgeStore(), terms, lambda line: show(line, err=True))
    learnt = lesson.run()
    if report is not None:
        from ggp.output_file import write_file
        from ggp.training.report import training_report

        page = training_report(loaded.name, machine, learnt, lesson.courses, lesson.trials)
        write_file(report, page.encode())
    verdict = worth(learnt, lesson.trials)
    if as_json:
        import orjson

        trials = [
            {"model": v.model, "against": v.against, "share": v.share, "looks": v.looks, "won": v.score.wins,
             "drawn": v.score.draws, "lost": v.score.losses, "decided": v.decided, "better": v.better}
            for v in lesson.trials
        ]  # fmt: skip
        outcome = as_row(learnt) | {"trials": trials, "worth": verdict}
        show(orjson.dumps(outcome, option=orjson.OPT_INDENT_2))
        return
    for tried in lesson.trials:
        if tried.score.games:
            show(f"{tried}: {tried.word}, {summary(tried.score)}")
    untried = (
        "not used yet: there was no trial" if not lesson.trials else "not used: no trial found it better"
    )
    used = f"used with a share of {learnt.use}" if learnt.share else untried
    learnt_from = f"{learnt.model}, {learnt.moves:,} moves learnt from"
    show(f"{loaded.name} {learnt.fingerprint[:12]}: {learnt_from}; {used}")
    show(verdict)
