"""Learning in a startclock: linear values by self-play, which short matches test before a search uses them.

A process of its own learns, and is ended when its time is up, so learning makes no player late. It is
``python -m players.uct.training.startclock SOCKET TASK``, both inherited descriptors.

Half of its time is for learning, a tenth of that by greedy self-play, the rest by self-play of searches if
the game allows it. Then the values play short matches at equal CPU time against a search without them. They
are used if chance alone would bring as many wins in at most one of fifty trials, and if they also lead in the
pairs after those, each at twice the clock of the one before.
"""

from __future__ import annotations

import os
import pickle
import sys
import time
from dataclasses import replace
from pathlib import Path

from gdl.errors import GdlError
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge, Record
from players.knowledge.store import find, read_file
from players.knowledge.training import Training
from players.processes.launch import launch_linked
from players.processes.lifeline import end_with
from players.processes.temporary import bytes_of, shared_bytes
from players.uct.training.duel import Series
from players.uct.training.searched_play import PlayTerms
from players.uct.training.searched_training import SearchedTraining, searches_can_look
from players.uct.tuning import Tuning
from propnet.machine import PropnetMachine

_LEARNING, _GREEDY = 0.5, 0.1
"""The share of the time for learning, and the share of that in which self-play is greedy, if searches can
play."""
_RESERVE = 0.05
"""The share of the time that is left for the end of the last match."""
_LANES = 64
"""Matches of searches side by side: a round of more takes too long for a clock."""
_CHANCE = 0.02
"""Probability by chance of as many wins, at most."""
_HOPELESS = 3
"""Losses ahead of wins after which a use is dropped."""
_AHEAD = 2
"""Wins ahead of losses for which a use may have the time of the next one."""
_SPARE = 1.5
"""A pair begins only if there is time for this many like it."""
_MOVE_SECONDS = 0.02
"""CPU seconds for a move of the first matches."""
_LONGEST = 200
_MEMORY = 1 << 26


def learn_apart(
    machine: PropnetMachine, path: Path, seed: int, workers: int, deadline: float
) -> GameKnowledge | None:
    """The knowledge that a process learns until ``deadline`` (time.monotonic()) at most, and writes to a
    file. Its share is 0 if searches should not use it. None if the game cannot be learnt, if searches already
    use knowledge of it, or if time was short.

    ``workers``: processes that play if searches do. Raises OSError if there is no room for a process."""
    found = find(machine.rules)
    if found is not None and found[1].share > 0.0:
        return None
    task = shared_bytes(pickle.dumps((machine, path, seed, workers, deadline)))
    ours, process = launch_linked("players.uct.training.startclock", [task], session=True)
    try:
        ours.settimeout(max(0.001, deadline - time.monotonic()))
        ours.recv(1)  # nothing comes, but the end
    except TimeoutError:
        return None
    finally:
        ours.close()
        process.kill()
        process.wait()
    return read_file(path) if path.exists() else None


def learn(machine: PropnetMachine, path: Path, seed: int, workers: int, deadline: float) -> None:
    """Learn and try in this process, which may take longer, and write the knowledge to a file. Leaves no file
    if the game cannot be learnt."""
    now = time.monotonic()
    deadline -= _RESERVE * (deadline - now)
    half = now + _LEARNING * (deadline - now)
    try:
        greedy = Training(machine, canonical_names(machine.rules), None, seed)
    except GdlError:
        return
    learning: Training | SearchedTraining = greedy
    if searching := greedy.columns == (0,) and searches_can_look(machine):
        _go_on(greedy, now + _GREEDY * (half - now))
        learning = SearchedTraining(greedy, seed, workers, PlayTerms(lanes=_LANES))
    try:
        _go_on(learning, half)
        learnt = learning.knowledge("startclock")
    finally:
        learning.close()
    draft = path.with_suffix(".draft")
    draft.write_bytes(learnt.to_bytes())
    usual = Tuning(knowledge="off", memory=_MEMORY)
    for share, looks, until in (1.0, searching, (half + deadline) / 2), (0.5, False, deadline):
        knowing = replace(usual, knowledge=str(draft), knowledge_share=share, looks=looks)
        series = Series(machine, (knowing, usual), seed, _LONGEST)
        if _is_better(series, until, deadline):
            learnt = replace(learnt, share=share, looks=looks)
            break
    drawn = len(series.scores) - series.wins - series.losses
    record = Record(series.wins, drawn, series.losses, series.seconds)
    draft.write_bytes(replace(learnt, record=record).to_bytes())
    draft.rename(path)


def _go_on(training: Training | SearchedTraining, until: float) -> None:
    """Learn until then, and let the weights settle."""
    began = time.monotonic()
    while (now := time.monotonic()) < until:
        training.round((now - began) / (until - began))


def _is_better(series: Series, until: float, deadline: float) -> bool:
    """Whether the first tuning is better, by matches until about ``until``, or the deadline if it leads."""
    move_seconds, next_pair, short = _MOVE_SECONDS, 0.0, 0
    while series.losses < series.wins + _HOPELESS:
        began = time.monotonic()
        ahead = series.wins >= series.losses + _AHEAD
        if began + _SPARE * next_pair > (deadline if ahead else until):
            break
        series.play(move_seconds)
        next_pair = time.monotonic() - began
        short = short or (len(series.scores) if series.is_won(_CHANCE) else 0)
        if short:
            # With more time playouts find out all that was learnt, and more.
            move_seconds, next_pair = 2.0 * move_seconds, 2.0 * next_pair
    return short > 0 and (len(series.scores) == short or sum(series.scores[-4:]) >= 3.0)


def main() -> None:
    """Learn, and write the file."""
    number, task = (int(argument) for argument in sys.argv[1:])
    end_with(number)
    learn(*pickle.loads(bytes_of(task)))
    os.close(number)  # its own end takes longer


if __name__ == "__main__":
    main()
