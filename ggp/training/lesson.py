"""`Lesson`: trains a game and stores what it learns. Linear weights come first, then a net.

After each of these two a trial decides whether searches use it. The knowledge is stored repeatedly, so that a
killed process loses little. Until a trial says otherwise, searches use the game's knowledge as before.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from gdl.information import playing
from gdl.machine import Machine
from ggp.training.trial import TrialTerms, TrialVerdict, hold_trial
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.store import KnowledgeStore, coming_along
from players.knowledge.training import Training, TrainingProgress
from players.uct.training.play_processes import SearchedTraining, searches_can_play
from propnet.machine import PropnetMachine

SAVE_SECONDS = 30.0
"""Seconds between two times at which the knowledge is stored."""
_LINEAR, _MOST_LINEAR = 0.25, 180.0
"""Share of the time, and the most seconds, for linear weights, if no net has been learnt yet."""
_LINEAR_TRIAL = 0.2
"""Share of the time for trials that linear weights have, if a net follows: it is rarely worse than these."""
_GREEDY, _MOST_GREEDY = 0.05, 60.0
"""Share of the time, and the most seconds, in which self-play is greedy if nothing has been learnt yet."""
_SHOW_SECONDS = 5.0

Course = list[tuple[float, TrainingProgress]]
"""Seconds of training, and the progress until then."""


@dataclass(frozen=True)
class LessonTerms:
    """The durations and limits of a lesson.

    Attributes:
        seconds: time for training.
        trial_seconds: time for all trials together; ``pairs``: the most pairs of matches for each use that a
            trial tries, 0 for no trials.
        move_seconds: CPU seconds for each move of a trial.
        workers: processes that play if searches do.
        fresh: whether to drop older knowledge.
        seed: seed of self-play and of matches.
    """

    seconds: float
    trial_seconds: float
    pairs: int
    move_seconds: float
    workers: int
    fresh: bool = False
    seed: int = 0


class Lesson:
    """The training of one game.

    Attributes:
        knowledge: the stored knowledge of the game; None while there is none.
        courses: for linear weights and the net, the times and the progress at them.
        trials: the verdicts of all trials, in order.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        playing_machine: Machine,
        game: str,
        store: KnowledgeStore,
        terms: LessonTerms,
        tell: Callable[[str], None],
    ) -> None:
        """``machine`` is for training, ``playing_machine`` for trials. ``game`` is the name for people;
        ``tell`` is called with lines for them."""
        self._machine, self._playing = machine, playing_machine
        self._name = re.sub(r"[^\w.:-]", "-", game)[:100]
        self._store, self._terms, self._tell = store, terms, tell
        self._names = canonical_names(machine.rules)
        self._role = machine.roles[playing(machine.roles)[0]]
        self._searches = searches_can_play(machine)
        self.knowledge: GameKnowledge | None = None
        self.courses: dict[str, Course] = {}
        self.trials: list[TrialVerdict] = []

    def run(self) -> GameKnowledge:
        """Train and try, and return the stored knowledge. Raises GdlError for games that cannot be trained,
        and for one that another process is training."""
        terms, fingerprint = self._terms, self._names.fingerprint
        with self._store.alone(fingerprint):
            if terms.fresh:
                self._store.remove(fingerprint)
            known = None if terms.fresh else self._store.get(fingerprint) or coming_along(fingerprint)
            self.knowledge = before = self._turned(known)
            self._training: Training | SearchedTraining
            self._training = Training(self._machine, self._names, before, terms.seed)
            if before is not None:
                self._tell(f"training goes on after {before.moves:,} moves")
                self._search()
            try:
                if before is None or before.net is None:
                    linear = min(_LINEAR * terms.seconds, _MOST_LINEAR)
                    self._learn("linear", linear)
                    self._try("linear", _LINEAR_TRIAL * terms.trial_seconds)
                    self._training.add_net()
                    self._learn("net", terms.seconds - linear)
                    self._try("net", (1.0 - _LINEAR_TRIAL) * terms.trial_seconds)
                else:
                    self._learn("net", terms.seconds)
                    self._try("net", terms.trial_seconds)
            finally:
                self._training.close()
            assert self.knowledge is not None
            return self.knowledge

    def _turned(self, knowledge: GameKnowledge | None) -> GameKnowledge | None:
        """The knowledge to continue with. It may come from a copy of the game that names its roles the other
        way round: then its column is that of the other role."""
        role = self._names.key(self._role)
        if knowledge is None or len(knowledge.columns) != 1 or knowledge.columns[0] == role:
            return knowledge
        return knowledge.turned(role)

    def _search(self) -> None:
        """Go on by searches instead of greedy self-play, if the game allows it."""
        training = self._training
        if isinstance(training, Training) and training.columns == (0,) and self._searches:
            self._training = SearchedTraining(training, self._terms.seed, self._terms.workers)

    def _learn(self, model: str, seconds: float) -> None:
        """Train for ``seconds``, and store the knowledge, also if this is interrupted."""
        began = shown = saved = time.monotonic()
        greedy_until = began + min(_GREEDY * self._terms.seconds, _MOST_GREEDY)
        course, role = self.courses.setdefault(model, []), self._machine.rules.spell(self._role)
        try:
            while (now := time.monotonic()) < began + seconds:
                if now > greedy_until:
                    self._search()
                self._training.round((now - began) / seconds)
                if now - shown > _SHOW_SECONDS:
                    shown, progress = now, self._training.progress
                    course.append((now - began, progress))
                    self._tell(
                        f"{now - began:6.0f} s  {progress.moves:,} moves, {progress.finished:,} matches,"
                        f" error {progress.error:.3f}, {role} gets {progress.share:.0%}"
                    )
                if now - saved > SAVE_SECONDS:
                    saved = now
                    self._keep()
        finally:
            self._keep()

    def _keep(self) -> None:
        """Store the knowledge. Searches use it as before, until there is another trial."""
        learnt, before = self._training.knowledge(self._name), self.knowledge
        if before is not None:
            used = before.net is not None and before.net_used
            learnt = replace(
                learnt, share=before.share, looks=before.looks, record=before.record, net_used=used
            )
        self.knowledge = learnt
        self._store.put(learnt)

    def _try(self, model: str, seconds: float) -> None:
        """Try the learnt values against those that searches use, or against none if they are of the same
        kind. If a use is better, store it; otherwise searches go on as before."""
        terms, learnt = self._terms, self.knowledge
        assert learnt is not None
        if not terms.pairs:
            return
        below = learnt if learnt.share and learnt.model != model else None
        until = time.monotonic() + seconds
        trial_terms = TrialTerms(terms.move_seconds, terms.pairs, until, terms.seed + 1, self._tell)
        tried = replace(learnt, net_used=model == "net")
        verdicts, found = hold_trial(self._playing, tried, below, trial_terms)
        self.trials += verdicts
        if found.share or not learnt.share:
            self.knowledge = found
            self._store.put(found)
