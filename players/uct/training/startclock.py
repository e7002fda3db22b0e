"""Learning for one match while its startclock runs: linear values by self-play, tested before they are used.

Half of the time is for learning: a tenth of that by greedy self-play, the rest by self-play of searches if
the game allows it. Most of the other half is for a trial: short matches at equal CPU time against a search
without the learnt values, both seats of each opening. The values are used if chance alone would bring as many
wins in at most one of fifty trials (a sign test after each pair of matches), and if the lead holds in the
pairs after those, each at twice the clock of the one before. The remaining time is for more learning.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from gdl.errors import GdlError
from gdl.machine import Machine, State
from players.knowledge.canonical_rules import CanonicalNames, canonical_names
from players.knowledge.knowledge import GameKnowledge, use
from players.knowledge.self_play import SelfPlay
from players.knowledge.state_values import StateValues
from players.knowledge.store import find
from players.knowledge.training import STEPS as GREEDY_STEPS
from players.knowledge.training import Training, check_goes_on
from players.processes.temporary import ScratchFolder
from players.uct.leaf_values import AUTO
from players.uct.training.duel import chance, play_pair
from players.uct.training.searched_play import STEPS, PlayTerms
from players.uct.training.searched_training import SearchedTraining, searches_can_look
from players.uct.tuning import Tuning
from propnet.capabilities import lane_machine
from propnet.machine import PropnetMachine

LEAST_SECONDS = 20.0
"""With less time nothing is learnt."""
_LEARNING, _TRIAL = 0.5, 0.35
"""Shares of the time."""
GREEDY = 0.1
"""Share of the time for learning in which self-play is greedy, if searches can play."""
_Uses = tuple[tuple[float, bool], ...]
USES: _Uses = (1.0, False), (0.5, False)
"""Shares of the learnt value in the value of a leaf, and whether searches look at all moves of new states;
tried one after the other."""
_USES_WITH_LOOKS: _Uses = (1.0, True), (0.5, False)
"""The same if searches can look."""
CHANCE = 0.02
"""Probability by chance of as many wins, at most."""
_BEFORE = 2.0
"""Seconds reserved for the player's own search before."""
_MOVE_SECONDS = 0.02
"""CPU seconds for a move of the trial at first."""
_PLIES, _LONGEST = 4, 200
_LANES = 128, 64, 32, 16
"""Matches of searches side by side, the most first."""
_ROUND = 2.0
"""Seconds that a round of these matches may take."""
_FEW, _SLOWEST = 32, 0.3
"""Matches of the timing run; seconds for a greedy move in all of them beyond which learning is too slow for a
clock."""
_SURVEY, _MOST_MOVES = 2.0, 500
"""Seconds for random games that show whether one role gets what the other does not, if their moves take as
long as greedy ones; their moves at most."""
_ROUND_SHARE = 0.125
"""The share of the time that a greedy round of these matches may take: it cannot be interrupted."""
_TIMED = 3
"""Number of timed moves."""
_WORTHWHILE = 2.0
"""Seconds that suffice to learn more after the trial."""


@dataclass(frozen=True)
class StartclockLesson:
    """The outcome of a startclock.

    Attributes:
        share: weight of the values in leaves; 0 if they are not to be used.
        looks: whether searches look at all moves of new states.
        moves: moves of self-play that were learnt from.
        wins, games: of the trial of that share, or of the last one.
        path: a file with the learnt values, as ``knowledge=`` takes it.
    """

    share: float
    moves: int
    wins: int
    games: int
    path: Path
    looks: bool = False

    def __str__(self) -> str:
        used = f"used ({use(self.share, self.looks)})" if self.share else "not used"
        return f"learnt from {self.moves:,} moves in the startclock, won {self.wins} of {self.games}: {used}"


class StartclockLearner:
    """Learns for one player, match by match; keeps the file of the current match."""

    def __init__(self) -> None:
        self._folder: ScratchFolder | None = None

    def learn(
        self, machine: Machine, tuning: Tuning, seed: int, deadline: float, workers: int = 1
    ) -> StartclockLesson | None:
        """Learn and test until about ``deadline`` (time.monotonic()), less the time that a search needs to
        begin. Returns None at once if the game cannot be learnt, if searches already use knowledge of it, or
        if time is short.

        ``workers``: processes that play if searches do, this one counted."""
        now = time.monotonic()
        lanes = lane_machine(machine)
        if deadline - now < LEAST_SECONDS - _BEFORE or tuning.knowledge != AUTO or lanes is None:
            return None
        found, share = find(lanes.rules), tuning.knowledge_share
        if found is not None and (found[1].share if share is None else share) > 0.0:
            return None
        try:
            check_goes_on(lanes)
            step = _step_seconds(lanes, seed)
            if step > _SLOWEST or step * GREEDY_STEPS > _ROUND_SHARE * (deadline - now):
                return None
            names = canonical_names(lanes.rules)
            training = Training(lanes, names, None, seed, most_moves=min(_MOST_MOVES, int(_SURVEY / step)))
        except GdlError:
            return None
        training.fit(step)
        side_by_side = _fitting(step) if training.columns == (0,) and searches_can_look(lanes) else 0
        half, uses = now + _LEARNING * (deadline - now), _USES_WITH_LOOKS if side_by_side else USES
        self.forget()
        self._folder = ScratchFolder("kaskade-")
        path = self._folder.path / "startclock.knowledge"
        learning: Training | SearchedTraining = training
        if side_by_side:
            _go_on(training, now + GREEDY * (half - now))
            learning = _by_searches(training, lanes, names, seed, side_by_side, workers)
        try:
            _go_on(learning, half)
            learnt = _keep(learning, path)
            until = time.monotonic() + _TRIAL * (deadline - now)
            lesson = _tried(lanes, learnt, uses, path, seed, until)
            if lesson.share > 0.0 and time.monotonic() < deadline - _BEFORE - _WORTHWHILE:
                _go_on(learning, deadline - _BEFORE)
                lesson = replace(lesson, moves=_keep(learning, path).moves)
        finally:
            learning.close()
        return lesson

    def forget(self) -> None:
        """Remove the file."""
        if self._folder is not None:
            self._folder.remove()
            self._folder = None


def _by_searches(
    training: Training, machine: PropnetMachine, names: CanonicalNames, seed: int, lanes: int, workers: int
) -> SearchedTraining:
    """Training by searches that goes on with the learnt weights, in ``workers`` processes."""
    learnt, terms = training.knowledge("startclock"), PlayTerms(lanes=lanes)
    return SearchedTraining(machine, names, learnt, seed, workers=workers, terms=terms, weights=training)


def _go_on(training: Training | SearchedTraining, until: float) -> None:
    """Learn until then, and let the weights settle."""
    began = time.monotonic()
    while (now := time.monotonic()) < until:
        training.round((now - began) / (until - began))


def _keep(training: Training | SearchedTraining, path: Path) -> GameKnowledge:
    """Write the learnt values to a file, and return them."""
    learnt = training.knowledge("startclock")
    path.write_bytes(learnt.to_bytes())
    return learnt


def _step_seconds(machine: PropnetMachine, seed: int) -> float:
    """Seconds of a move of greedy self-play in the matches of the timing run."""
    play = SelfPlay(machine, (0,), _FEW, np.random.default_rng(seed))
    values = StateValues(len(machine.network.bases), len(machine.roles), (0,))
    play.play(values, 1)
    found = np.inf
    for _ in range(_TIMED):
        began = time.monotonic()
        play.play(values, 1)
        # On a busy machine some moves take longer than they should.
        found = min(found, time.monotonic() - began)
        if found > _ROUND:
            break
    return found


def _fitting(step: float) -> int:
    """The number of matches of searches side by side whose rounds fit into a clock; 0 if none does. ``step``
    is the result of :func:`_step_seconds`: a search looks as far from each of its states as a greedy player
    from its one."""
    terms = PlayTerms()
    rounds = (lanes for lanes in _LANES if step * lanes / _FEW * terms.visits * STEPS <= _ROUND)
    return next(rounds, 0)


def _tried(
    machine: PropnetMachine, known: GameKnowledge, uses: _Uses, path: Path, seed: int, deadline: float
) -> StartclockLesson:
    """Try the uses until one is better, or the time is up."""
    usual = Tuning(prove=False, knowledge="off", memory=1 << 26)
    lesson = StartclockLesson(0.0, known.moves, 0, 0, path)
    for number, (share, looks) in enumerate(uses):
        now = time.monotonic()
        until = now + (deadline - now) / (len(uses) - number)
        knowing = replace(usual, knowledge=str(path), knowledge_share=share, looks=looks)
        pairs = _Pairs(machine, knowing, usual, seed, deadline)
        better = _is_better(pairs, until) and _stays_better(pairs)
        if pairs.leads:
            lesson = replace(lesson, wins=pairs.wins, games=len(pairs.leads))
        if better:
            return replace(lesson, share=share, looks=looks)
    return lesson


class _Pairs:
    """Pairs of matches of one tuning of the search against another one.

    Attributes:
        leads: of the first tuning, match by match: 1 if it got more, -1 less, 0 as much.
        seconds: time of the last pair.
    """

    def __init__(
        self, machine: PropnetMachine, first: Tuning, second: Tuning, seed: int, deadline: float
    ) -> None:
        self._machine = machine
        self._tunings = first, second
        self._rng = random.Random(seed)
        self._deadline = deadline
        self.leads: list[int] = []
        self.seconds = 0.0

    @property
    def wins(self) -> int:
        """Matches in which the first tuning got more."""
        return self.leads.count(1)

    @property
    def losses(self) -> int:
        """Matches in which the first tuning got less."""
        return self.leads.count(-1)

    def play(self, move_seconds: float) -> bool:
        """Play from an opening with either of them in one seat, against the other one in all others. False if
        the deadline ends the pair, which then does not count."""
        machine, rng, began = self._machine, self._rng, time.monotonic()
        opening, seat = _opening(machine, rng), rng.randrange(len(machine.roles))
        seed, deadline = rng.getrandbits(16), self._deadline
        scores = play_pair(machine, opening, self._tunings, move_seconds, seed, _LONGEST, seat, deadline)
        if scores is None:
            return False
        self.leads += [(score > 0.5) - (score < 0.5) for score in scores]
        self.seconds = time.monotonic() - began
        return True

    def time_for(self, seconds: float) -> bool:
        """Whether at least ``seconds`` are left."""
        return time.monotonic() + seconds < self._deadline


def _is_better(pairs: _Pairs, until: float) -> bool:
    """Whether the first tuning is better in short matches, which are played until that is clear, or until
    ``until``."""
    while pairs.play(_MOVE_SECONDS):
        wins, losses = pairs.wins, pairs.losses
        # A use that leads may have the time of those after it.
        late = time.monotonic() > until and wins < losses + 2
        if late or losses >= wins + 3 or chance(wins, losses) <= CHANCE:
            break
    return chance(pairs.wins, pairs.losses) <= CHANCE


def _stays_better(pairs: _Pairs) -> bool:
    """Whether the lead also holds in longer matches, as far as time allows: with more time, playouts find out
    everything that was learnt, and more. The last two pairs have to bring three matches of four."""
    move_seconds, short = _MOVE_SECONDS, len(pairs.leads)
    while pairs.time_for(2.0 * pairs.seconds):
        move_seconds *= 2.0
        if not pairs.play(move_seconds):
            break
    return len(pairs.leads) == short or sum(pairs.leads[-4:]) >= 2


def _opening(machine: PropnetMachine, rng: random.Random) -> State:
    """A state after some random moves from which the match goes on; the initial one if none was found."""
    roles = range(len(machine.roles))
    for _ in range(10):
        state = machine.initial_state()
        for _ in range(_PLIES):
            joint = [rng.choice(machine.legal_moves(state, role) or [0]) for role in roles]
            state = machine.next_state(state, joint)
            if machine.is_terminal(state) or not all(machine.legal_moves(state, role) for role in roles):
                break
        else:
            return state
    return machine.initial_state()
