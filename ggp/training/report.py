"""A training as one HTML page: its course, the values of squares and pieces, the results of the matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from ggp.boards.board import find_board
from ggp.report_page import page, table
from ggp.training.lesson import Course
from ggp.training.trial import TrialVerdict, summary, worth
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge
from propnet.machine import PropnetMachine

_MOST_BOARDS = 24
_MOST_POINTS = 20
"""Points of a course that are shown."""


def training_report(
    game: str,
    machine: PropnetMachine,
    knowledge: GameKnowledge,
    courses: Mapping[str, Course],
    trials: Sequence[TrialVerdict],
) -> str:
    """The page, with the courses of linear weights and of the net."""
    used = f"used with a share of {knowledge.use}" if knowledge.share else "not used by searches"
    parts = [
        f"<p>{knowledge.model}, learnt from {knowledge.moves:,} moves of self-play, {used}.</p>",
        "<h2>Learning</h2>",
        _courses(courses),
        "<h2>Matches</h2>",
        f"<p>{escape(worth(knowledge, trials))}</p>",
        _matches(trials),
    ]
    if boards := worth_of_squares(machine, knowledge):
        role = machine.rules.spell(machine.roles[_column_role(machine, knowledge)])
        parts += [
            "<h2>What squares are worth</h2>",
            f"<p>To {escape(role)}, in logits, by the weights of single propositions.</p>",
            _boards(boards),
        ]
    return page(game, parts)


def worth_of_squares(machine: PropnetMachine, knowledge: GameKnowledge) -> dict[str, NDArray[np.float64]]:
    """By kind of piece, in the game's own words, its value on each square of the board to the first role that
    has values of its own: float64, shape (rows, columns), the first row at the bottom; nan where it cannot
    be. The most different boards come first; there are none if the rules show no board."""
    board = find_board(machine)
    if board is None:
        return {}
    features = Features.of(machine.network.bases, canonical_names(machine.rules))
    worth = features.weights_of_bases(features.arranged(knowledge).weights)[:, 0]
    boards: dict[str, NDArray[np.float64]] = {}
    for term, value in zip(machine.network.bases, worth.tolist(), strict=True):
        (panel, x, y), thing = board.where(term) or (((), term, term), ())
        if x in board.columns and y in board.rows:
            name = " ".join(map(machine.rules.spell, (*panel, *thing)))
            of_thing = boards.setdefault(name, np.full((len(board.rows), len(board.columns)), np.nan))
            of_thing[board.rows.index(y), board.columns.index(x)] = value
    order = sorted(boards, key=lambda name: -float(np.nanmax(np.abs(boards[name]))))
    return {name: boards[name] for name in order[:_MOST_BOARDS]}


def _column_role(machine: PropnetMachine, knowledge: GameKnowledge) -> int:
    """The role of the first column of weights."""
    names = canonical_names(machine.rules)
    return [names.key(role) for role in machine.roles].index(knowledge.columns[0])


def _courses(courses: Mapping[str, Course]) -> str:
    """The error of values by training time, of linear weights and of the net."""
    rows = [
        (model, f"{seconds:.0f}", f"{progress.error:.4f}")
        for model, course in courses.items()
        for seconds, progress in course[:: -(-len(course) // _MOST_POINTS) or 1]
    ]
    return table(("values", "seconds", "error"), rows)


def _boards(boards: dict[str, NDArray[np.float64]]) -> str:
    """A board for each kind of piece, blue where it is worth something, red where it costs something."""
    most = max(float(np.nanmax(np.abs(board))) for board in boards.values()) or 1.0

    def square(value: float) -> str:
        if np.isnan(value):
            return "<td></td>"
        colour = "33 102 172" if value > 0 else "178 24 43"
        return f'<td style="background: rgb({colour} / {abs(value) / most:.2f})">{value:+.2f}</td>'

    def drawn(name: str, board: NDArray[np.float64]) -> str:
        rows = "\n".join(f"<tr>{''.join(map(square, row))}</tr>" for row in board[::-1].tolist())
        return f'<table><tr><th colspan="{board.shape[1]}">{escape(name)}</th></tr>{rows}</table>'

    return f'<div class="boards">{"".join(drawn(*item) for item in boards.items())}</div>'


def _matches(trials: Sequence[TrialVerdict]) -> str:
    rows = [(str(verdict), summary(verdict.score), verdict.word) for verdict in trials]
    return table(("tried", "score", "the test says"), rows) if rows else ""
