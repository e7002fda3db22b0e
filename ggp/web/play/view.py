"""The view of a table: the board, the moves that can be clicked, and the history."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Sequence
from typing import Any

from gdl.machine import Machine, State
from gdl.terms import Term, sort_key
from gdl.visible import without_folders
from ggp.answers.catalogue import title_of
from ggp.boards.board import Grid, find_board
from ggp.boards.clicks import ClickFinder
from ggp.boards.layers import Square, Thing
from ggp.boards.role_view import past_of
from ggp.boards.scene import Onlooker
from ggp.boards.spoken.ends import EndFinder, Ending
from ggp.boards.spoken.words import MoveWords
from ggp.boards.svg.overlay import BoardOverlay
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.sokoban.findings import lost_boxes
from ggp.sokoban.machine_stage import MachineStage, stage_of_machine
from players.match import Match, MatchStep, doubts_of
from players.player import Choice

HUMAN = "human"
OUTSIDE = -1
"""The number of those who look on."""
_SHOWN_CANDIDATES = 8


class TableView:
    """Draws and spells the states and moves of one game.

    Args:
        like: another view of the same game, whose board is reused.
    """

    def __init__(self, game: Game, machine: Machine, title: str = "", like: TableView | None = None) -> None:
        self.title = title or title_of(game.text)[0] or game.name
        self._game, self._machine = game.name, machine
        board: Grid | None = find_board(machine) if like is None else like.board
        self.painter = SvgPainter(board, game.rules, machine.roles, game.name)
        self._clicks = ClickFinder(board, game.rules)
        self._words = MoveWords(game.rules, machine.roles, board, self._clicks)
        self._ends = EndFinder(machine, board)
        self._ended: tuple[State, Ending] | None = None
        self.board: Grid | None = board
        self._stage = stage_of_machine(machine) if len(machine.roles) == 1 else None
        self.roles = [game.rules.spell(role) for role in machine.roles]
        self.turned = self.painter.turned(machine.initial_state().propositions)

    def spelled(self, role: int, move: int) -> str:
        """A move as the rules spell it."""
        return self._machine.rules.spell(self._machine.move(role, move))

    def candidates(
        self, state: State, role: int, choice: Choice, known: Collection[Term] | None = None
    ) -> list[tuple[str, int, float | None]]:
        """The candidate moves of a player's search: each in words, with its visits and its expected result
        (0 to 100, None if unknown). ``known`` is what the role knows of the state, if not all."""
        texts = self._texts(state, role, known)
        return [
            (texts.get(one.move) or self.spelled(role, one.move), one.visits, one.rounded(1))
            for one in choice.candidates[:_SHOWN_CANDIDATES]
        ]

    def _texts(self, state: State, role: int, known: Collection[Term] | None) -> dict[int, str]:
        """The words of a role's legal moves, by what it knows of the state, if not all."""
        moves = self._machine.legal_moves(state, role)
        words = self.words(role, moves, state.propositions if known is None else known)
        return dict(zip(moves, words, strict=True))

    def secret(self, state: State, role: int, seats: Sequence[str], chosen: Container[int]) -> bool:
        """Whether showing a role's search would reveal its move to a person who must still choose at the same
        time."""
        return any(
            seat == HUMAN and len(self._machine.legal_moves(state, other)) > 1
            for other, seat in enumerate(seats)
            if other != role and other not in chosen
        )

    def hint(
        self, state: State, role: int, choice: Choice, known: Collection[Term] | None = None
    ) -> dict[str, Any]:
        """The advice to a role: ``move``, ``words`` (it in words), ``over`` (markup that shows it on the
        board), ``expects``, the expected result, ``note`` and ``candidates``. ``known`` is what the role
        knows of the state, if not all."""
        return {
            "move": self.spelled(role, choice.move),
            # A solver's advice has no candidates, whose words would say it.
            "words": self._texts(state, role, known).get(choice.move) or self.spelled(role, choice.move),
            "over": self._arrow(state, role, choice.move, known),
            "expects": choice.expects,
            "note": choice.note,
            "candidates": self.candidates(state, role, choice, known),
        }

    def _arrow(self, state: State, role: int, move: int, known: Collection[Term] | None) -> str:
        """A move as an arrow or rings over the board: markup that follows the squares in the drawing."""
        legal = [self._machine.move(role, one) for one in self._machine.legal_moves(state, role)]
        text = self.spelled(role, move)
        if known is None:
            found = self._clicks.clicks(legal, state.propositions, role, self._after(state, role))
        else:
            found = self._clicks.clicks(legal, known, role)
        clicks = next((one for one in found if one.move == text), None)
        return "" if clicks is None else self.painter.draw_over(BoardOverlay.of_move(clicks))

    def asked(self, match: Match, seats: Sequence[str]) -> list[dict[str, Any]]:
        """The roles for which a person must choose, each with its legal moves as words and clicks."""
        return [
            {"role": role, "moves": self.offered(role, match.options[role], state.propositions, after)}
            for role in match.waiting
            if seats[role] == HUMAN
            for state in (match.state,)
            for after in (self._after(state, role),)
        ]

    def offered(
        self,
        role: int,
        legal: Sequence[int],
        propositions: Collection[Term],
        after: Callable[[Term], Iterable[Term]] | None = None,
    ) -> list[dict[str, Any]]:
        """A role's legal moves, in words and as clicks on the board on which these propositions are true;
        ``after`` gives what is true after a move, if that is known."""
        terms = [self._machine.move(role, move) for move in legal]
        words = self.words(role, legal, propositions)
        texts = dict(zip(map(self._machine.rules.spell, terms), words, strict=True))
        found = self._clicks.clicks(sorted(terms, key=sort_key), propositions, role, after)
        return [{"move": m.move, "clicks": m.clicks, "text": texts[m.move] or m.move} for m in found]

    def _after(self, state: State, role: int) -> Callable[[Term], Iterable[Term]] | None:
        """What is true after each move of a role; None if that depends on the moves of others, or clicks do
        not need it."""
        machine = self._machine
        options = machine.options(state)
        others = [moves[:1] for moves in options]
        if not self._clicks.needs_effects or any(
            len(options[r]) != 1 for r in range(len(options)) if r != role
        ):
            return None

        def after(move: Term) -> Iterable[Term]:
            joint = [machine.move_id(r, move) if r == role else one[0] for r, one in enumerate(others)]
            return machine.next_state(state, joint).propositions

        return after

    def words(
        self, role: int, moves: Sequence[int], propositions: Collection[Term] | None = None
    ) -> list[str]:
        """Different moves of a role in words, by what is known of the state, if anything is."""
        terms = [self._machine.move(role, move) for move in moves]
        return self._words.of_terms(terms, role, propositions)

    def seen(self, match: Match, at: int, role: int | None = None) -> dict[str, Any]:
        """The fields of the message ``state`` that describe the state after ``at`` steps and the history.
        ``role`` sits below."""
        state, closed = match.states[at], match.closed if at == match.at else None
        over = self._machine.is_terminal(state)
        history = [self._step_json(step) for step in match.steps]
        goals = list(state.goals.values()) if over else []
        if closed is not None:  # chance gains and loses nothing
            goals = [None if role == match.chance else goal for role, goal in enumerate(closed.goals)]
        before = match.steps[at - 1].state if at else None
        was = None if before is None else before.propositions
        end = self._ending(state, before) if over else Ending("" if closed is None else closed.text)
        steps = match.steps[:at] if self.painter.quiet else ()
        past = past_of((step.state, step.joint) for step in steps)
        made = [self._machine.move(i, move) for i, move in enumerate(match.steps[at - 1].joint)] if at else []
        by = Onlooker(role, moves=made, over=over or closed is not None, past=past)
        won = BoardOverlay(won=tuple(end.squares))
        return {
            "step": at,
            "steps": len(match.steps),
            "svg": self.painter.draw_state(state, before, overlay=won, facts=False, by=by),
            "beside": self.painter.describe(state.propositions, was)["beside"],
            "over": over or closed is not None,
            "goals": goals,
            "reason": end.text,
            "lost": [] if over or self._stage is None else self._lost(self._stage, state),
            "doubts": doubts_of(state),
            "thought": self._thought(match.steps[at - 1]) if at else [],
            "history": history,
            "tally": self._tally(match),
        }

    def _thought(self, step: MatchStep) -> list[dict[str, Any]]:
        """The players' searches for the moves of a step, role by role."""
        return [
            {
                "role": role,
                "note": without_folders(choice.note),
                "candidates": self.candidates(step.state, role, choice),
            }
            for role, choice in step.choices.items()
            if choice.candidates
        ]

    def _lost(self, stage: MachineStage, state: State) -> list[str]:
        """Why the boxes of a Sokoban level can no longer all reach goals, as far as quick checks find it."""
        return [one.sentence for one in lost_boxes(stage.stage, stage.position(state))]

    def _tally(self, match: Match) -> dict[str, int]:
        """The ``moves`` of a person who plays alone, up to the state that is shown, and in Sokoban the
        ``pushes``; empty for games of several roles."""
        if len(self.roles) > 1:
            return {}
        if self._stage is None:
            return {"moves": match.at}
        steps = self._stage.steps(map(self._stage.position, match.states[: match.at + 1]))
        return {"moves": len(steps), "pushes": sum(map(str.isupper, steps))}

    def _ending(self, state: State, before: State | None) -> Ending:
        if self._ended is None or self._ended[0] != state:
            self._ended = state, self._ends.ending(state, before)
        return self._ended[1]

    def _step_json(self, step: MatchStep) -> dict[str, Any]:
        expects = {self.roles[role]: choice.expects for role, choice in step.choices.items()}
        if not step.words:
            step.words = self._words.joint(step.state, step.joint)
        return {
            "moves": [self.spelled(role, move) for role, move in enumerate(step.joint)],
            "words": step.words,
            "notes": {
                self.roles[role]: without_folders(choice.note)
                for role, choice in step.choices.items()
                if choice.note
            },
            "expects": {role: value for role, value in expects.items() if value is not None},
        }


SECONDS = 1.5
"""CPU time of a search for a path."""
MOST_STATES = 20_000
Placed = frozenset[tuple[Square, Thing]]


class WalkFinder:
    """Finds paths in one game. ``board`` is its board."""

    def __init__(self, machine: Machine, board: Grid) -> None:
        self._machine, self._board = machine, board
        self._squares = {key: square for square in board.squares if (key := board.key(square))}

    def way(self, state: State, role: int, to: str, origin: str = "") -> list[int] | None:
        """The shortest list of moves that brings the walker, the thing that moves by itself, to the square
        ``to``. With ``origin`` the moves bring the thing on that square to ``to``. Squares are named as in
        ``data-square``. None if there is no path, or none is found in time."""
        target = self._squares.get(to)
        start = self._placed(state.propositions)
        source = self._squares.get(origin) if origin else None
        if target is None or (origin and source is None):
            return None
        pushed = {thing for square, thing in start if square == source}
        end = time.process_time() + SECONDS
        seen = {start}
        line: deque[tuple[State, list[int]]] = deque([(state, [])])
        while line and len(seen) < MOST_STATES and time.process_time() < end:
            at, moves = line.popleft()
            for move in self._machine.legal_moves(at, role):
                after = self._machine.next_state(at, (move,))
                now = self._placed(after.propositions)
                if now in seen:
                    continue
                # Only the walker may move, and with an origin the pushed thing too.
                movers = {thing for _, thing in start ^ now}
                came = {thing for square, thing in now - start if square == target}
                if came & pushed if origin else came and len(movers) == 1:
                    return [*moves, move]
                if len(movers) > (2 if origin else 1) or self._machine.is_terminal(after):
                    continue
                seen.add(now)
                line.append((after, [*moves, move]))
        return None

    def _placed(self, propositions: Iterable[Term]) -> Placed:
        on, _ = self._board.place(propositions)
        return frozenset((square, thing) for square, things in on.items() for thing in things)
