"""``ggp train``: learns a game by self-play and saves the knowledge for later matches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ggp.commands import GameName
from ggp.printing import show

_PAIRS = 20
"""Pairs of matches of each trial, at most."""
_SEED = 0
"""Random seed of self-play and of the matches."""


def command(
    game: GameName,
    minutes: Annotated[float, typer.Option(help="Minutes of training, all rungs together.", min=0)] = 30.0,
    model: Annotated[
        str,
        typer.Option(help="The rung of the ladder: linear or net; auto: one after the other."),
    ] = "auto",
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
        Path | None, typer.Option(help="Write a page with plots: the course, squares' worth, matches.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as one JSON object.")] = False,
) -> None:
    """Learn what a game's states are worth.

    Training is by self-play, in two rungs: first weights for propositions and shapes of propositions, then
    a small net that adds to them.
    After each rung, matches against the rung in use (or the untrained player) decide whether searches use
    the new one. The best rung trains on for the last three tenths of the time. Everything is saved under
    $GGP_CACHE/knowledge every half minute, and an interrupted training resumes from there. The knowledge
    also serves the same game under other names.
    """
    from gdl.errors import GdlError
    from gdl.information import Information, information_of
    from ggp.game import Game
    from ggp.training.ladder import LADDER, Climb, LadderTerms, lane_machine_of
    from ggp.training.trial import summary, worth
    from players.kaskade.guided_machine import guided
    from players.knowledge.store import KnowledgeStore
    from players.processes.limits import cores
    from propnet.native.machine import NativeMachine

    if model not in (*LADDER, "auto"):
        raise GdlError(f"there is no model {model!r}", remedy=", ".join((*LADDER, "auto")))
    if report is not None:
        from ggp.commands import check_writable
        from ggp.report_page import check_installed

        check_installed()
        check_writable(report)
    loaded = Game.load(game)
    if information_of(loaded.rules) is Information.HIDDEN:
        raise GdlError(
            f"{loaded.name} is a game of {information_of(loaded.rules)}: values of states are not learnt",
            remedy="`expectimax`, `pimc` and `ismcts` play it without",
        )
    machine = lane_machine_of(loaded.machine("auto"))
    playing = guided(machine) if isinstance(machine, NativeMachine) else machine
    pairs = _PAIRS if trial_minutes else 0
    terms = LadderTerms(60.0 * minutes, 60.0 * trial_minutes, pairs, move_seconds, cores(), fresh, _SEED)
    climb = Climb(machine, playing, loaded.name, KnowledgeStore(), terms, lambda line: show(line, err=True))
    learnt = climb.run(tuple(LADDER) if model == "auto" else (model,))
    if report is not None:
        from ggp.output_file import write_file
        from ggp.training.report import training_report

        write_file(
            report, training_report(loaded.name, machine, learnt, climb.courses, climb.verdicts).encode()
        )
    if as_json:
        import orjson

        trials = [
            {"model": rung, "against": against, "share": v.share, "looks": v.looks, "won": v.score.wins,
             "drawn": v.score.draws, "lost": v.score.losses, "decided": v.decided, "better": v.better}
            for rung, against, v in climb.verdicts
        ]  # fmt: skip
        outcome = {
            "game": loaded.name,
            "fingerprint": learnt.fingerprint,
            "model": learnt.model,
            "moves": learnt.moves,
            "seconds": round(learnt.seconds, 1),
            "share": learnt.share,
            "looks": learnt.looks,
            "trials": trials,
            "worth": worth(learnt, climb.verdicts),
        }
        show(orjson.dumps(outcome, option=orjson.OPT_INDENT_2))
        return
    for rung, against, verdict in climb.verdicts:
        if not verdict.score.games:
            continue
        word = "better" if verdict.better else "not better" if verdict.decided else "undecided"
        show(f"{rung}, share {verdict.use} against {against}: {word}, {summary(verdict.score)}")
    untried = (
        "not used yet: there was no trial" if not climb.verdicts else "not used: no trial found it better"
    )
    used = f"used with a share of {learnt.use}" if learnt.share else untried
    learnt_from = f"{learnt.model}, {learnt.moves:,} moves learnt from"
    show(f"{loaded.name} {learnt.fingerprint[:12]}: {learnt_from}; {used}")
    show(worth(learnt, climb.verdicts))
