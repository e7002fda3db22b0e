"""A lesson: a game is learnt for some time by :class:`players.knowledge.training.Training` and
:class:`players.uct.training.searched_training.SearchedTraining`, and what was learnt is kept again and again,
so that a process that is killed loses little.

What is learnt of a game on another rung of the ladder than what searches use lies on that rung of the store,
until a trial says that it is better.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace

from gdl.errors import GdlError
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.store import KnowledgeStore
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
        self._role = names.key(machine.roles[0])
        self.known = self._begun(self._store.get(names.fingerprint))
        self._school = machine, names, seed, model, workers
        begun = self.known
        if model == "net" and begun is None:
            # It stands on weights of features where there are some.
            below = used if used is not None and used.model in ("linear", "derived") else None
            begun = self._begun(below or store.rung("linear").get(names.fingerprint))
        self._searches = model != "tuples" and searches_can_look(machine)
        self.training: Training | SearchedTraining
        if model == "net" or (begun is not None and len(begun.columns) == 1 and self._searches):
            self.training = self._by_searches(begun)
        else:
            self.training = Training(machine, names, begun, seed, model)

    def _begun(self, known: GameKnowledge | None) -> GameKnowledge | None:
        """What to go on with. It may have been learnt of a copy of the game that names its roles the other
        way round: then its column is that of the other one."""
        if known is None or len(known.columns) != 1 or known.columns[0] == self._role:
            return known
        return known.turned(self._role)

    def _by_searches(self, known: GameKnowledge | None) -> SearchedTraining:
        machine, names, seed, model, workers = self._school
        return SearchedTraining(machine, names, known, seed, model, workers)

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
                    if self.training.columns == (0,) and self._searches:
                        self._keep()
                        self.training = self._by_searches(self.known)
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
