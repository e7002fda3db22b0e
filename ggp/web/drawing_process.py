"""The process that draws the states of watched matches, whose rules are part of each request, within limits
of time and memory."""

from __future__ import annotations

from collections.abc import Sequence

from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.syntax.parser import parse_rules, parse_term
from ggp.boards.scene import Onlooker
from ggp.boards.spoken.words import MoveWords
from ggp.boards.svg.picture import SvgPainter
from ggp.processes.parent import JsonMessage, Send, answer_requests

_LIMITS = 2 * 1024**3, 3600.0
"""Memory in bytes and CPU seconds of one process for all its drawings; then a new process replaces it."""
_MOST_TOLD = 100
"""The newest joint moves, which are returned in words too."""
_MOST_TEXTS = 200
"""Most legal moves of a state that are returned in words, for spectators of a search."""


class DrawnLine:
    """States along a line of joint moves, each reached once however often it is drawn.

    Attributes:
        machine, painter: of the game.
    """

    def __init__(self, machine: Machine, name: str = "") -> None:
        self.machine = machine
        self.painter = SvgPainter.of_machine(machine, name)
        self._moves: list[Sequence[str]] = []
        self._states = [machine.initial_state()]
        self._words = MoveWords(machine.rules, machine.roles, self.painter.board)
        self._spoken: dict[int, dict[str, object]] = {}

    def reach(self, moves: Sequence[Sequence[str]], step: int) -> tuple[State, State | None]:
        """The state after the first ``step`` of these joint moves, and its predecessor (None for step 0).
        Raises GdlError if a joint move cannot be played."""
        pairs = enumerate(zip(self._moves, moves, strict=False))
        same = next((i for i, (a, b) in pairs if a != b), min(len(self._moves), len(moves)))
        del self._moves[same:], self._states[same + 1 :]
        self._spoken = {at: words for at, words in self._spoken.items() if at < same}
        while len(self._states) <= step:
            joint = moves[len(self._moves)]
            self._states.append(self._states[-1].play(*joint))
            self._moves.append(joint)
        return self._states[step], self._states[step - 1] if step else None

    def draw(self, moves: Sequence[Sequence[str]], step: int) -> str:
        """The drawing of that state, with the changes of the last move marked. Raises GdlError as
        :meth:`reach`."""
        state, before = self.reach(moves, step)
        made = [parse_term(move, "move") for move in moves[step - 1]] if step else []
        by = Onlooker(moves=made, over=self.machine.is_terminal(state))
        return self.painter.draw_state(state, before, facts=False, by=by)

    def history(self, step: int) -> list[dict[str, object]]:
        """The newest joint moves before a step that was reached, at most MOST_TOLD. Each has ``moves`` in the
        notation of the rules, and ``words``, None for moves that only wait."""
        machine, newest = self.machine, []
        for at in range(max(0, step - _MOST_TOLD), step):
            if at not in self._spoken:
                moves = [parse_term(move, "move") for move in self._moves[at]]
                joint = [machine.move_id(role, move) for role, move in enumerate(moves)]
                words = self._words.joint(self._states[at], joint)
                self._spoken[at] = {"moves": list(map(machine.rules.spell, moves)), "words": words}
            newest.append(self._spoken[at])
        return newest

    def words(self, moves: Sequence[str]) -> list[str]:
        """Moves of the first role in words; different moves get different words."""
        different = list(dict.fromkeys(moves))
        spelled = self._words.of_terms([parse_term(move, "move") for move in different])
        texts = dict(zip(different, spelled, strict=True))
        return [texts[move] for move in moves]

    def texts(self, state: State) -> dict[str, str]:
        """Each legal move of a state in words; empty if there are more than MOST_TEXTS."""
        machine, rules = self.machine, self.machine.rules
        legal = [machine.legal_moves(state, role) for role in range(len(machine.roles))]
        if sum(map(len, legal)) > _MOST_TEXTS:
            return {}
        texts: dict[str, str] = {}
        for role, moves in enumerate(legal):
            words = self._words.texts(state, role)
            texts |= {rules.spell(machine.move(role, move)): words[move] for move in moves}
        return texts


class WatchedGame:
    """One watched match. Raises GdlError if its rules cannot be played."""

    def __init__(self, rules: str) -> None:
        self.rules = rules
        self._line = DrawnLine(ProverMachine(parse_rules(rules, "match")))

    def draw(self, moves: Sequence[Sequence[str]], step: int | None = None) -> dict[str, object]:
        """The state after these joint moves, or after the first ``step`` of them. Raises GdlError if they
        cannot be played."""
        at = len(moves) if step is None else max(0, min(step, len(moves)))
        machine = self._line.machine
        state, _ = self._line.reach(moves, at)
        over = machine.is_terminal(state)
        spell = machine.rules.spell
        return {
            "svg": self._line.draw(moves, at),
            "beside": self._line.painter.lines_beside(state.propositions),
            "step": at,
            "roles": [spell(role) for role in machine.roles],
            "history": self._line.history(at),
            "texts": self._line.texts(state),
            "over": over,
            "goals": [machine.goal(state, role) for role in range(len(machine.roles))] if over else [],
        }


def main() -> None:
    """Draw until the other end is gone."""
    watched: WatchedGame | None = None

    def answer(request: JsonMessage, send: Send) -> dict[str, object]:
        nonlocal watched
        if watched is None or watched.rules != request["rules"]:
            watched = WatchedGame(request["rules"])
        return watched.draw(request["moves"], request.get("step"))

    answer_requests(answer, "drawing", *_LIMITS)
