"""The ladder: trains all rungs in turn. A trial after each one decides which knowledge searches use, and the
best rung is trained further.

A lesson trains one rung for some time (:class:`players.knowledge.training.Training`,
:class:`players.uct.training.searched_training.SearchedTraining`), and stores its knowledge repeatedly, so
that a killed process loses little. If searches use the knowledge of one rung, knowledge of a game from
another rung is stored on that other rung until a trial shows that it is better.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gdl.errors import GdlError
from gdl.information import playing
from gdl.machine import Machine
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import TrialTerms, TrialVerdict, hold_trial, points
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import MODELS, GameKnowledge
from players.knowledge.store import KnowledgeStore
from players.knowledge.training import Training, TrainingProgress
from players.uct.training.searched_training import SearchedTraining, searches_can_look
from propnet.machine import PropnetMachine

SAVE_SECONDS = 30.0
"""Seconds between two times at which the knowledge is stored."""
GREEDY, _MOST_GREEDY = 0.2, 60.0
"""Share of the time, and the most seconds, in which self-play may be greedy at first."""
_SHOW_SECONDS = 5.0


class Lesson:
    """The training of one game on one rung of the ladder.

    Attributes:
        knowledge: the stored knowledge of the game on this rung; None while there is none.
        training: the training process.
    """

    def __init__(
        self,
        machine: PropnetMachine,
        game: str,
        store: KnowledgeStore,
        seed: int = 0,
        model: str = "linear",
        workers: int = 1,
    ) -> None:
        """Continues with the stored knowledge of the game. ``workers``: processes that play if searches do.
        Raises GdlError for games that cannot be trained."""
        self._name = re.sub(r"[^\w.:-]", "-", game)[:100]
        self._used = store
        names = canonical_names(machine.rules)
        used = store.get(names.fingerprint)
        self._store = store if used is None or used.model == model else store.rung(model)
        self._role = names.key(machine.roles[playing(machine.roles)[0]])
        self.knowledge = self._begun(self._store.get(names.fingerprint))
        self._seed, self._workers = seed, workers
        begun = self.knowledge
        if model == "net" and begun is None:
            # It is based on linear weights if there are any.
            below = used if used is not None and used.model == "linear" else None
            begun = self._begun(below or store.rung("linear").get(names.fingerprint))
        self._searches = searches_can_look(machine)
        training = Training(machine, names, begun, seed, model)
        at_once = model == "net" or begun is not None
        self.training = self._going_on(training) if at_once else training

    def _begun(self, knowledge: GameKnowledge | None) -> GameKnowledge | None:
        """The knowledge to continue with. It may come from a copy of the game that names its roles the other
        way round: then its column is that of the other role."""
        if knowledge is None or len(knowledge.columns) != 1 or knowledge.columns[0] == self._role:
            return knowledge
        return knowledge.turned(self._role)

    def _going_on(self, training: Training) -> Training | SearchedTraining:
        """The training by searches instead of greedy self-play, if the game allows it."""
        if training.columns != (0,) or not self._searches:
            return training
        return SearchedTraining(training, self._seed, self._workers)

    def learn(self, seconds: float, show: Callable[[float, TrainingProgress], None]) -> None:
        """Train for ``seconds``, and store the knowledge, also if this is interrupted. ``show`` is called
        every few seconds with the time used and the progress.

        Training that starts from nothing begins with greedy self-play, and continues with that of searches if
        the game allows it."""
        began = shown = saved = time.monotonic()
        greedy = min(GREEDY * seconds, _MOST_GREEDY)
        try:
            while (now := time.monotonic()) < began + seconds:
                if isinstance(self.training, Training) and now > began + greedy:
                    greedy = seconds
                    if self._searches:
                        self._keep()
                        self.training = self._going_on(self.training)
                self.training.round((now - began) / seconds)
                if now - shown > _SHOW_SECONDS:
                    shown = now
                    show(now - began, self.training.progress)
                if now - saved > SAVE_SECONDS:
                    saved = now
                    self._keep()
        finally:
            self._keep()
            self.training.close()

    def decide(self, share: float, knowledge: GameKnowledge) -> None:
        """Store the share with which searches use the knowledge; ``knowledge`` has the trial's record. With a
        share above 0 they use it from now on, in place of their previous knowledge, which stays on its own
        rung."""
        self.knowledge = replace(knowledge, share=share)
        if share > 0.0:
            self._store = self._used
            self._store.use(self.knowledge)
        else:
            self._store.put(self.knowledge)

    def _keep(self) -> None:
        """Store the knowledge. Searches use it as before, until there is another trial."""
        learnt = self.training.knowledge(self._name)
        if self.knowledge is not None:
            learnt = replace(
                learnt, share=self.knowledge.share, looks=self.knowledge.looks, record=self.knowledge.record
            )
        self._store.put(learnt)
        self.knowledge = learnt


def lane_machine_of(machine: object) -> PropnetMachine:
    """The machine itself, which has lanes. Raises GdlError for one that has none."""
    if not isinstance(machine, PropnetMachine):
        raise GdlError("the game is too large for a network", remedy="it is played without knowledge")
    return machine


LADDER = dict(zip(MODELS, (0.25, 0.45), strict=True))
"""The rungs of the ladder, the lowest first, and their shares of the time: weights of features, and a net
that adds to them. The best rung gets the rest of the time: games differ in which rung that is."""
ON = " learning on"
"""Suffix for the name of a rung that is trained further."""


@dataclass(frozen=True)
class LadderTerms:
    """The durations and limits of a climb.

    Attributes:
        seconds: time for training, all rungs together.
        trial_seconds: time for all trials together; ``pairs``: the most pairs of matches in each, 0 for no
            trials.
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


@dataclass
class Climb:
    """The training of one game on all rungs of the ladder.

    Attributes:
        machine: the machine for training; ``playing`` plays the trials.
        game: the name for people.
        tell: called with lines for people to read.
        courses: for each rung, the times and the progress at them.
        verdicts: for each trial, the rung, its opponent, and the result.
        used: the knowledge that searches use at present; None while there is none.
        first: the knowledge of the first rung.
    """

    machine: PropnetMachine
    playing: Machine
    game: str
    store: KnowledgeStore
    terms: LadderTerms
    tell: Callable[[str], None]
    courses: dict[str, list[tuple[float, TrainingProgress]]] = field(default_factory=dict)
    verdicts: list[tuple[str, str, TrialVerdict]] = field(default_factory=list)
    used: GameKnowledge | None = None
    first: GameKnowledge | None = None

    def run(self, rungs: tuple[str, ...]) -> GameKnowledge:
        """Train these rungs. Returns the knowledge that searches use, or that of the first rung if they use
        none. Raises GdlError for games that cannot be trained, and for one that another process is
        training."""
        fingerprint = canonical_names(self.machine.rules).fingerprint
        with self.store.alone(fingerprint):
            if self.terms.fresh:
                self.store.remove(fingerprint)
            stored = self.store.get(fingerprint)
            self.used = stored if stored is not None and stored.share else None
            return self._climb(rungs)

    def _climb(self, rungs: tuple[str, ...]) -> GameKnowledge:
        """Train these rungs, one after the other."""
        shares = dict.fromkeys(rungs, 1.0) if len(rungs) == 1 else {rung: LADDER[rung] for rung in rungs}
        left = max(0.0, 1.0 - sum(shares.values()))
        trials = len(rungs) + (left > 0.0)
        for rung in rungs:
            part = (shares[rung] + 1.0 / trials) / 2.0
            learnt = self._learn(rung, shares[rung])
            # A rung that was used before has been trained further, and is used as before if the trial is
            # undecided.
            same = self.used is not None and self.used.model == rung
            found = self._try(rung, learnt, None if same else self.used, part, used=same)
            self.used = found or (learnt.knowledge if same else self.used)
            self.first = self.first or learnt.knowledge
        assert self.first is not None
        if left > 0.0:
            self._go_on(left, (left + 1.0 / trials) / 2.0)
        return self.used or self.first

    def _learn(self, rung: str, share: float) -> Lesson:
        """Train one rung for its share of the time, or continue its training."""
        terms, on = self.terms, rung in self.courses
        lesson = Lesson(self.machine, self.game, self.store, terms.seed, rung, terms.workers)
        if lesson.knowledge is not None:
            self.tell(f"{rung} goes on after {lesson.knowledge.moves:,} moves")
        course = self.courses[rung + ON if on else rung] = []
        spell, role = self.machine.rules.spell, self.machine.roles[playing(self.machine.roles)[0]]

        def show(seconds: float, progress: TrainingProgress) -> None:
            course.append((seconds, progress))
            self.tell(
                f"{seconds:6.0f} s  {progress.moves:,} moves, {progress.finished:,} matches,"
                f" error {progress.error:.3f}, {spell(role)} gets {progress.share:.0%}"
            )

        lesson.learn(terms.seconds * share, show)
        assert lesson.knowledge is not None
        return lesson

    def _try(
        self, name: str, lesson: Lesson, below: GameKnowledge | None, part: float, used: bool = False
    ) -> GameKnowledge | None:
        """Hold the trial of a lesson's knowledge for its part of the time. Returns the knowledge with its use
        if it is better. Otherwise it is not used, unless it was ``used`` before: then it is used as
        before."""
        terms, against = self.terms, below.model if below else "no knowledge"
        if not terms.pairs:
            return None
        assert lesson.knowledge is not None

        def show(use: str, score: Tally) -> None:
            self.tell(f"{name}, share {use} against {against}: {points(score)}")

        until = time.monotonic() + terms.trial_seconds * part
        trial = TrialTerms(terms.move_seconds, terms.pairs, until, terms.seed + 1, show)
        found, learnt = hold_trial(self.playing, lesson.knowledge, below, trial)
        self.verdicts += [(name, against, verdict) for verdict in found]
        if learnt.share or not used:
            lesson.decide(learnt.share, learnt)
        return learnt if learnt.share else None

    def _go_on(self, share: float, part: float) -> None:
        """Continue the training of the best rung, and try it against no knowledge. The best rung is the one
        that searches use, otherwise the one with the best score. If the trial is undecided, it is used as
        before."""
        rung = self.used.model if self.used else self._best()
        lesson = self._learn(rung, share)
        assert self.first is not None and lesson.knowledge is not None
        better = self._try(rung + ON, lesson, None, part, used=self.used is not None)
        if better is not None or self.used is not None:
            self.used = better or lesson.knowledge
        elif rung == self.first.model:
            self.first = lesson.knowledge

    def _best(self) -> str:
        """The rung with the best score of all trials; the first one if there were none."""
        assert self.first is not None
        tried = [(verdict.score.score, rung) for rung, _, verdict in self.verdicts if verdict.score.games]
        return max(tried, default=(0.0, self.first.model))[1]
