"""The ladder: all rungs are learnt in turn, a trial after each says what searches are to use, and the best
one learns on.

A lesson learns one rung for some time (:class:`players.knowledge.training.Training`,
:class:`players.uct.training.searched_training.SearchedTraining`), and keeps what was learnt again and again,
so that a process that is killed loses little. What is learnt of a game on another rung than what searches use
lies on that rung of the store, until a trial says that it is better.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gdl.errors import GdlError
from gdl.information import playing
from gdl.machine import Machine
from ggp.tournament.statistics.scores import Tally
from ggp.training.trial import TrialTerms, TrialVerdict, hold_trial, points
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.store import RUNGS, KnowledgeStore
from players.knowledge.training import Training, TrainingProgress
from players.uct.training.searched_training import SearchedTraining, searches_can_look
from propnet.machine import PropnetMachine

SAVE_SECONDS = 30.0
"""How often what was learnt is kept."""
GREEDY, MOST_GREEDY = 0.2, 60.0
"""What share of the time, and how many seconds, self-play may be greedy at first."""
_SHOW_SECONDS = 5.0


class Lesson:
    """What is learnt of one game on one rung of the ladder.

    Attributes:
        known: what is kept of the game on this rung; None as long as nothing is.
        training: learns.
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
        """Goes on with what is kept of the game. ``workers``: processes that play where searches do. Raises
        GdlError for games that cannot be learnt."""
        self._name = re.sub(r"[^\w.:-]", "-", game)[:100]
        self._used = store
        names = canonical_names(machine.rules)
        used = store.get(names.fingerprint)
        self._store = store if used is None or used.model == model else store.rung(model)
        self._role = names.key(machine.roles[playing(machine.roles)[0]])
        self.known = self._begun(self._store.get(names.fingerprint))
        self._school = machine, names, seed, model, workers
        begun = self.known
        if model == "net" and begun is None:
            # It stands on weights of features where there are some.
            below = used if used is not None and used.model in ("linear", "derived") else None
            begun = self._begun(below or store.rung("linear").get(names.fingerprint))
        self._searches = model != "tuples" and searches_can_look(machine)
        training = Training(machine, names, begun, seed, model)
        at_once = model == "net" or begun is not None
        self.training = self._going_on(training, begun) if at_once else training

    def _begun(self, known: GameKnowledge | None) -> GameKnowledge | None:
        """What to go on with. It may have been learnt of a copy of the game that names its roles the other
        way round: then its column is that of the other one."""
        if known is None or len(known.columns) != 1 or known.columns[0] == self._role:
            return known
        return known.turned(self._role)

    def _going_on(self, training: Training, known: GameKnowledge | None) -> Training | SearchedTraining:
        """The training by searches in place of one by greedy self-play, where the game allows it."""
        if training.columns != (0,) or not self._searches:
            return training
        machine, names, seed, model, workers = self._school
        return SearchedTraining(machine, names, known, seed, model, workers, weights=training)

    def learn(self, seconds: float, show: Callable[[float, TrainingProgress], None]) -> None:
        """Learn for so many seconds, and keep it. ``show`` is given the seconds gone and what was learnt
        from, every few seconds. What was learnt is kept also where this is interrupted.

        What is learnt anew is learnt by greedy self-play at first, then by that of searches where the game
        allows it; tables over n-tuples by greedy self-play alone: they need many states more than good ones
        (see docs/measurements.md)."""
        began = shown = saved = time.monotonic()
        greedy = min(GREEDY * seconds, MOST_GREEDY)
        try:
            while (now := time.monotonic()) < began + seconds:
                if isinstance(self.training, Training) and now > began + greedy:
                    greedy = seconds
                    if self._searches:
                        self._keep()
                        self.training = self._going_on(self.training, self.known)
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

    def decide(self, share: float, known: GameKnowledge) -> None:
        """Keep with which share searches are to use what was learnt; ``known`` has the trial's record. With a
        share above 0 they do so from now on, in place of what they used; that stays on its own rung."""
        self.known = replace(known, share=share)
        if share > 0.0:
            self._store = self._used
            self._store.use(self.known)
        else:
            self._store.put(self.known)

    def _keep(self) -> None:
        """Keep what was learnt. Searches use it as they did before, until there is another trial."""
        learnt = self.training.knowledge(self._name)
        if self.known is not None:
            learnt = replace(learnt, share=self.known.share, looks=self.known.looks, record=self.known.record)
        self._store.put(learnt)
        self.known = learnt


def lane_machine_of(machine: object) -> PropnetMachine:
    """The machine, which has lanes. Raises GdlError for one that has none."""
    if not isinstance(machine, PropnetMachine):
        raise GdlError("the game is too large for a network", remedy="it is played without knowledge")
    return machine


LADDER = dict(zip(RUNGS, (0.2, 0.1, 0.1, 0.3), strict=True))
"""The rungs of the ladder, the lowest first, and their shares of the time: weights of features, those of
derived propositions besides, tables over n-tuples added to the first, a net added to either. The one that did
best has the rest: games differ in which that is."""
ON = " learning on"
"""What is added to the name of a rung that learns on."""


@dataclass(frozen=True)
class LadderTerms:
    """How long what goes on.

    Attributes:
        seconds: for learning, all rungs together.
        trial_seconds: for the trials, all together; ``pairs`` of matches at most in each, none for 0.
        move_seconds: CPU seconds for each move of a trial.
        workers: processes that play where searches do.
        fresh: whether what was learnt before is forgotten.
        seed: of self-play and of matches.
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
    """A game on its way up the ladder.

    Attributes:
        machine: learns; ``playing`` plays the trials.
        game: what people call it.
        tell: is given lines for people to read.
        courses: of each rung, the seconds gone and what was learnt from until then.
        verdicts: of each trial, the rung, what it was tried against, and what that has shown.
        used: what searches use by now, of what was learnt; None as long as nothing is.
        first: what was learnt on the first rung.
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
        """Learn these rungs; returns what searches use, or else what was learnt on the first. Raises GdlError
        for games of which nothing can be learnt, and for one that another process is learning."""
        fingerprint = canonical_names(self.machine.rules).fingerprint
        with self.store.alone(fingerprint):
            if self.terms.fresh:
                self._check(rungs[0])
                self.store.remove(fingerprint)
            known = self.store.get(fingerprint)
            self.used = known if known is not None and known.share else None
            return self._climb(rungs)

    def _check(self, rung: str) -> None:
        """Raise GdlError where nothing can be learnt on a rung, before what is known is forgotten."""
        with TemporaryDirectory() as folder:
            nothing = KnowledgeStore(Path(folder))
            Lesson(self.machine, self.game, nothing, self.terms.seed, rung).training.close()

    def _climb(self, rungs: tuple[str, ...]) -> GameKnowledge:
        """Learn these rungs, one after the other."""
        shares = dict.fromkeys(rungs, 1.0) if len(rungs) == 1 else {rung: LADDER[rung] for rung in rungs}
        left = max(0.0, 1.0 - sum(shares.values()))
        trials = len(rungs) + (left > 0.0)
        for rung in rungs:
            part = (shares[rung] + 1.0 / trials) / 2.0
            learnt = self._learn(rung, shares[rung])
            if learnt is None:
                continue
            # A rung that was used before has learnt on, and is used as before where the trial shows nothing.
            same = self.used is not None and self.used.model == rung
            found = self._try(rung, learnt, None if same else self.used, part, used=same)
            self.used = found or (learnt.known if same else self.used)
            self.first = self.first or learnt.known
        assert self.first is not None
        if left > 0.0:
            self._go_on(left, (left + 1.0 / trials) / 2.0)
        return self.used or self.first

    def _learn(self, rung: str, share: float) -> Lesson | None:
        """Learn one rung for its share of the time, or learn it on; None where the game has no such."""
        terms, on = self.terms, rung in self.courses
        try:
            lesson = Lesson(self.machine, self.game, self.store, terms.seed, rung, terms.workers)
        except GdlError as error:
            if self.first is None:
                raise
            self.tell(f"{rung}: {error.message}")
            return None
        if lesson.known is not None:
            self.tell(f"{rung} goes on after {lesson.known.moves:,} moves")
        course = self.courses[rung + ON if on else rung] = []
        spell, role = self.machine.rules.spell, self.machine.roles[playing(self.machine.roles)[0]]

        def show(seconds: float, progress: TrainingProgress) -> None:
            course.append((seconds, progress))
            self.tell(
                f"{seconds:6.0f} s  {progress.moves:,} moves, {progress.finished:,} matches,"
                f" error {progress.error:.3f}, {spell(role)} gets {progress.share:.0%}"
            )

        lesson.learn(terms.seconds * share, show)
        assert lesson.known is not None
        return lesson

    def _try(
        self, name: str, lesson: Lesson, below: GameKnowledge | None, part: float, used: bool = False
    ) -> GameKnowledge | None:
        """Hold the trial of what a lesson has taught for its part of the time. Returns it with its use where
        it is better. Else it is not used, unless it was ``used`` before: then it is used as before."""
        terms, against = self.terms, below.model if below else "no knowledge"
        if not terms.pairs:
            return None
        assert lesson.known is not None

        def show(use: str, score: Tally) -> None:
            self.tell(f"{name}, share {use} against {against}: {points(score)}")

        until = time.monotonic() + terms.trial_seconds * part
        trial = TrialTerms(terms.move_seconds, terms.pairs, until, terms.seed + 1, show)
        found, learnt = hold_trial(self.playing, lesson.known, below, trial)
        self.verdicts += [(name, against, verdict) for verdict in found]
        if learnt.share or not used:
            lesson.decide(learnt.share, learnt)
        return learnt if learnt.share else None

    def _go_on(self, share: float, part: float) -> None:
        """Let the rung that did best learn on, and try it against no knowledge: the one that searches use, or
        else that with the best score. Where the trial shows nothing it is used as before."""
        rung = self.used.model if self.used else self._best()
        lesson = self._learn(rung, share)
        assert self.first is not None and lesson is not None and lesson.known is not None
        known = self._try(rung + ON, lesson, None, part, used=self.used is not None)
        if known is not None or self.used is not None:
            self.used = known or lesson.known
        elif rung == self.first.model:
            self.first = lesson.known

    def _best(self) -> str:
        """The rung with the best score of all trials; the first one where there were none."""
        assert self.first is not None
        tried = [(verdict.score.score, rung) for rung, _, verdict in self.verdicts if verdict.score.games]
        return max(tried, default=(0.0, self.first.model))[1]
