"""A training as one HTML page: its course, the values of squares and pieces, the results of the matches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ggp.boards.board import find_board
from ggp.report_page import check_installed, new_figure, page, plot, table
from ggp.training.lesson import Course
from ggp.training.trial import TrialVerdict, summary, worth
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge
from propnet.machine import PropnetMachine

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_BOARDS = 24


def training_report(
    game: str,
    machine: PropnetMachine,
    knowledge: GameKnowledge,
    courses: Mapping[str, Course],
    trials: Sequence[TrialVerdict],
) -> str:
    """The page, with the courses of linear weights and of the net. Raises GdlError if matplotlib is
    missing."""
    check_installed()
    used = f"used with a share of {knowledge.use}" if knowledge.share else "not used by searches"
    parts = [
        f"<p>{knowledge.model}, learnt from {knowledge.moves:,} moves of self-play, {used}.</p>",
        "<h2>Learning</h2>",
        plot(_courses(courses)),
        "<h2>Matches</h2>",
        f"<p>{escape(worth(knowledge, trials))}</p>",
        _matches(trials),
    ]
    if boards := worth_of_squares(machine, knowledge):
        role = machine.rules.spell(machine.roles[_column_role(machine, knowledge)])
        parts += [
            "<h2>What squares are worth</h2>",
            f"<p>To {escape(role)}, in logits, by the weights of single propositions.</p>",
            plot(_boards(boards)),
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


def _courses(courses: Mapping[str, Course]) -> Figure:
    """The error by training time, a line for linear weights and one for the net."""
    figure = new_figure(8, 3)
    axes = figure.subplots()
    for model, course in courses.items():
        axes.plot([s for s, _ in course], [p.error for _, p in course], marker=".", label=model)
    axes.set_xlabel("seconds")
    axes.set_ylabel("error of values")
    axes.set_ylim(bottom=0)
    if courses:
        axes.legend()
    return figure


def _boards(boards: dict[str, NDArray[np.float64]]) -> Figure:
    across = min(6, len(boards))
    down = -(-len(boards) // across)
    figure = new_figure(2 * across, 2.1 * down)
    most = max(float(np.nanmax(np.abs(board))) for board in boards.values()) or 1.0
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for axes in panels:
        axes.set_axis_off()
    for axes, (name, board) in zip(panels, boards.items(), strict=False):
        picture = axes.imshow(board, origin="lower", cmap="RdBu", vmin=-most, vmax=most)
        axes.set_title(name, fontsize=9, parse_math=False)
    figure.colorbar(picture, ax=panels.tolist(), shrink=0.8)
    return figure


def _matches(trials: Sequence[TrialVerdict]) -> str:
    rows = [(str(verdict), summary(verdict.score), verdict.word) for verdict in trials]
    return table(("tried", "score", "the test says"), rows) if rows else ""
