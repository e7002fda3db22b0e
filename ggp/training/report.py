"""A training as one HTML page: its course, the values of squares and pieces, the results of the matches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gdl.rules import Rules
from gdl.terms import Term
from ggp.report_page import check_installed, new_figure, page, plot, table
from ggp.training.trial import TrialVerdict, interval, summary, worth
from players.knowledge.canonical_rules import canonical_names
from players.knowledge.features import Features
from players.knowledge.knowledge import GameKnowledge
from players.knowledge.training import TrainingProgress
from propnet.machine import PropnetMachine

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Course = Sequence[tuple[float, TrainingProgress]]
"""Seconds of training, and the progress until then."""
Trial = tuple[str, str, TrialVerdict]
"""The knowledge tried, its opponent, and the result."""
_MOST_BOARDS = 24


def training_report(
    game: str,
    machine: PropnetMachine,
    knowledge: GameKnowledge,
    courses: Mapping[str, Course],
    trials: Sequence[Trial],
) -> str:
    """The page, with a course for each rung of the ladder. Raises GdlError if matplotlib is missing."""
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
    if trials:
        parts.append(plot(_intervals(trials)))
    if boards := worth_of_squares(machine, knowledge):
        role = machine.rules.spell(machine.roles[_column_role(machine, knowledge)])
        parts += [
            "<h2>What squares are worth</h2>",
            f"<p>To {escape(role)}, in logits, by the weights of single propositions.</p>",
            plot(_boards(boards)),
        ]
    return page(game, parts)


_Ranks = dict[Term, int]

_MOST_DIGITS = 9
"""Longer numbers do not number rows."""


class _Coordinates:
    """The orders that the facts of some rules show."""

    def __init__(self, rules: Rules) -> None:
        links: dict[str, set[tuple[Term, Term]]] = defaultdict(set)
        for rule in rules:
            arguments = rule.head.args
            if not rule.body and len(arguments) > 1 and all(not term.args for term in arguments):
                links[f"{rule.head.name}/{len(arguments)}"] |= set(pairwise(arguments))
        self._links = links

    def order(self, constants: Iterable[Term]) -> _Ranks | None:
        """The places of the constants, from 0; None if no relation orders them and they are not numbers."""
        targets = set(constants)
        if len(targets) == 1:
            return dict.fromkeys(targets, 0)
        for links in self._links.values():
            inside = {(a, b) for a, b in links if a in targets and b in targets and a != b}
            if len(inside) == len(targets) - 1 and (order := _chain(targets, inside)):
                return order
        if all(_is_number(term) for term in targets):
            return {term: int(term.name) for term in targets}
        return None


def _chain(wanted: set[Term], links: set[tuple[Term, Term]]) -> _Ranks | None:
    """The order in which links lead through all constants; None if they are not a path."""
    after = dict(links)
    firsts = wanted - set(after.values())
    if len(after) < len(links) or len(firsts) != 1:
        return None
    term: Term | None = firsts.pop()
    order: _Ranks = {}
    while term is not None and term not in order:
        order[term] = len(order)
        term = after.get(term)
    return order if len(order) == len(wanted) else None


def _is_number(term: Term) -> bool:
    return not term.args and len(term.name) <= _MOST_DIGITS and term.name.isascii() and term.name.isdigit()


def worth_of_squares(machine: PropnetMachine, knowledge: GameKnowledge) -> dict[str, NDArray[np.float64]]:
    """By kind of piece, in the game's own words, its value on each square to the first role that has values
    of its own: float64, shape (rows, columns), the first row at the bottom; nan where it cannot be.

    Only propositions count whose first two arguments the rules order. The most different boards come
    first."""
    names = canonical_names(machine.rules)
    features = Features.of(machine.network.bases, names)
    worth = features.weights_of_bases(features.arranged(knowledge).weights)[:, 0]
    coordinates = _Coordinates(machine.rules)
    kinds: dict[tuple[str, int], list[int]] = defaultdict(list)
    for base, term in enumerate(machine.network.bases):
        if len(term.args) >= 2:
            kinds[term.name, len(term.args)].append(base)
    boards: dict[str, NDArray[np.float64]] = {}
    for members in kinds.values():
        terms = [machine.network.bases[base] for base in members]
        columns, rows = (coordinates.order(term.args[place] for term in terms) for place in (0, 1))
        if columns and rows and len(columns) > 1 and len(rows) > 1:
            _fill(boards, machine, dict(zip(terms, worth[members].tolist(), strict=True)), columns, rows)
    order = sorted(boards, key=lambda name: -float(np.nanmax(np.abs(boards[name]))))
    return {name: boards[name] for name in order[:_MOST_BOARDS]}


def _fill(
    boards: dict[str, NDArray[np.float64]],
    machine: PropnetMachine,
    worth: dict[Term, float],
    columns: _Ranks,
    rows: _Ranks,
) -> None:
    """Put the values of propositions on boards, one board for each value of their other arguments."""
    first_row, first_column = min(rows.values()), min(columns.values())
    shape = max(rows.values()) - first_row + 1, max(columns.values()) - first_column + 1
    for term, value in worth.items():
        rest = " ".join(machine.rules.spell(part) for part in term.args[2:])
        name = rest or machine.rules.spelling.get(term.name, term.name)
        board = boards.setdefault(name, np.full(shape, np.nan))
        if board.shape == shape:
            board[rows[term.args[1]] - first_row, columns[term.args[0]] - first_column] = value


def _column_role(machine: PropnetMachine, knowledge: GameKnowledge) -> int:
    """The role of the first column of weights."""
    names = canonical_names(machine.rules)
    return [names.key(role) for role in machine.roles].index(knowledge.columns[0])


def _courses(courses: Mapping[str, Course]) -> Figure:
    """The error by training time, a line for each rung."""
    figure = new_figure(8, 3)
    axes = figure.subplots()
    for rung, course in courses.items():
        axes.plot([s for s, _ in course], [p.error for _, p in course], marker=".", label=rung)
    axes.set_xlabel("seconds")
    axes.set_ylabel("error of values")
    axes.set_ylim(bottom=0)
    if courses:
        axes.legend()
    return figure


def _intervals(trials: Sequence[Trial]) -> Figure:
    """Each trial's share of wins with its interval."""
    figure = new_figure(8, 0.6 + 0.4 * len(trials))
    axes = figure.subplots()
    for place, (_, _, verdict) in enumerate(reversed(trials)):
        if (share := verdict.score.score) is None:
            continue
        low, high = interval(verdict.score)
        axes.plot([100 * low, 100 * high], [place, place], color="C0")
        axes.plot([100 * share], [place], "o", color="C0")
    axes.set_yticks(range(len(trials)), [f"{rung} {v.use}" for rung, _, v in reversed(trials)])
    axes.axvline(50, color="0.7", linewidth=1)
    axes.set_xlim(0, 100)
    axes.set_xlabel("score in %, with its 95 % interval")
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


def _matches(trials: Sequence[Trial]) -> str:
    if not trials:
        return ""
    rows = []
    for rung, against, verdict in trials:
        word = "better" if verdict.better else "not better" if verdict.decided else "undecided"
        rows.append((f"{rung}, share {verdict.use}", against, summary(verdict.score), word))
    return table(("tried", "against", "score", "the test says"), rows)
