"""``ggp train``: a game is learnt by self-play, and kept for the matches to come."""

from __future__ import annotations

from typing import Annotated

import typer

from ggp.commands import GameName


def command(
    game: GameName,
    minutes: Annotated[float, typer.Option(help="How long to learn.", min=0)] = 30.0,
    pairs: Annotated[
        int, typer.Option(help="Pairs of matches, at most, of each trial; 0: no trial.", min=0)
    ] = 20,
    trial_minutes: Annotated[float, typer.Option(help="How long the trials may take.", min=0)] = 10.0,
    move_seconds: Annotated[
        float, typer.Option(help="CPU seconds for each move of a trial.", min=0.01)
    ] = 0.1,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget what was learnt before.")] = False,
    seed: Annotated[int, typer.Option(help="Of self-play and of the matches.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="The outcome as one JSON object.")] = False,
) -> None:
    """Learn what a game's states are worth.

    By self-play, with a weight for each proposition and each shape of propositions. Then matches against the
    untrained player show whether searches are to use it. It is kept under $GGP_CACHE/knowledge, every half
    minute: a training that was broken off goes on from there. The game finds it under any names.
    """
    import time
    from dataclasses import replace

    from ggp.game import Game
    from ggp.tournament.statistics.scores import Tally
    from ggp.training.duel import summary
    from ggp.training.lesson import Lesson, lane_machine_of
    from ggp.training.trial import SHARES, TrialVerdict, best_of, try_share
    from players.kaskade.guided_machine import guided
    from players.knowledge.knowledge import Record
    from players.knowledge.store import KnowledgeStore
    from players.knowledge.training import TrainingProgress
    from propnet.native.machine import NativeMachine

    loaded = Game.load(game)
    machine = lane_machine_of(loaded.machine("auto"))
    lesson = Lesson(machine, loaded.name, KnowledgeStore(), fresh, seed)
    if lesson.known is not None:
        typer.echo(f"goes on after {lesson.known.moves:,} moves", err=True)

    def show_progress(seconds: float, progress: TrainingProgress) -> None:
        typer.echo(
            f"{seconds:6.0f} s  {progress.moves:,} moves, {progress.finished:,} matches,"
            f" error {progress.error:.3f}, {machine.rules.spell(machine.roles[0])} gets {progress.share:.0%}",
            err=True,
        )

    def show_score(share: float, tally: Tally) -> None:
        typer.echo(f"share {share:.0%} against no knowledge: {summary(tally)}", err=True)

    lesson.learn(60.0 * minutes, show_progress)
    verdicts: list[TrialVerdict] = []
    if pairs and len(machine.roles) == 2 and lesson.known is not None:
        playing = guided(machine) if isinstance(machine, NativeMachine) else machine
        deadline = time.monotonic() + 60.0 * trial_minutes
        for number, share in enumerate(SHARES):
            # The first leaves the others their part of the time.
            until = time.monotonic() + (deadline - time.monotonic()) / (len(SHARES) - number)
            verdicts.append(try_share(playing, share, move_seconds, pairs, until, seed + 1, show_score))
        best = best_of(verdicts)
        tally = best.score if best else max((v.score for v in verdicts), key=lambda score: score.score)
        record = Record(int(tally.wins), int(tally.draws), int(tally.losses), move_seconds)
        lesson.decide(best.share if best else 0.0, replace(lesson.known, record=record))
    known = lesson.known
    assert known is not None
    if as_json:
        import orjson

        trials = [
            {"share": v.share, "won": v.score.wins, "drawn": v.score.draws, "lost": v.score.losses,
             "decided": v.decided, "better": v.better}
            for v in verdicts
        ]  # fmt: skip
        outcome = {
            "game": loaded.name,
            "fingerprint": known.fingerprint,
            "moves": known.moves,
            "seconds": round(known.seconds, 1),
            "share": known.share,
            "trials": trials,
        }
        typer.echo(orjson.dumps(outcome, option=orjson.OPT_INDENT_2).decode())
        return
    for verdict in verdicts:
        word = "better" if verdict.better else "not better" if verdict.decided else "undecided"
        typer.echo(f"share {verdict.share:.0%}: {word}, {summary(verdict.score)}")
    untried = "not yet: there was no trial" if not verdicts else "not: no trial found it better"
    used = f"with a share of {known.share:.0%}" if known.share else untried
    typer.echo(f"{loaded.name} {known.fingerprint[:12]}: {known.moves:,} moves learnt from; used {used}")
