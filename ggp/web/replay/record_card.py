"""Cards of records: who played which game, how it ended, and a picture of the last position."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from gdl.syntax.parser import parse_rules
from gdl.visible import visible
from ggp.answers.catalogue import title_of
from ggp.boards.board import board_of
from ggp.boards.svg.picture import SvgPainter
from ggp.game import Game
from ggp.web.replay.recorded import RecordedMatch, one_of, read_match, summary
from ggp.web.replay.sources import RecordSource, game_of

MOST_GAMES = 8
"""Games whose boards are kept: a folder has many matches of one game."""
_LONGEST_TITLE = 100
_NO_RULES = "(role unknown)"


def shown_title(match: RecordedMatch, game: Game | None) -> str:
    """What the game of a match is called, for people."""
    title = match.game if game is None else title_of(game.text)[0] or game.name
    return visible(title[:_LONGEST_TITLE])


def painter_of(match: RecordedMatch, game: Game | None) -> SvgPainter:
    """What draws the states of a match; without rules the board is found in the states alone."""
    if game is not None:
        return SvgPainter.of_machine(game.machine("prover"), game.name)
    states = list(match.states)
    rules = parse_rules(_NO_RULES)
    return SvgPainter(board_of(rules, (), states, set().union(*states)), rules, (), match.game)


class CardMaker:
    """Makes cards; keeps the boards of the games that were drawn last."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, str], tuple[Game, SvgPainter]] = OrderedDict()

    def card(self, source: RecordSource, number: int) -> dict[str, Any]:
        """What a card shows: the fields of :func:`~ggp.web.replay.recorded.summary`, ``title``, ``matches``
        (how many there are in the file), ``svg``.

        Args:
            number: of the match, from 1; 0 stands for the whole file, whose last match is drawn.

        Raises:
            GdlError: there is no such match, or its last state cannot be read.
        """
        count = len(source.records)
        told = one_of(source.records, number or count)
        match = read_match(_end_of(told))
        game, painter = self._drawn_by(source, match)
        before = match.states[-2] if len(match.states) > 1 else None
        shown = painter.draw(match.states[-1], before, facts=False)
        title = shown_title(match, game) or "Unknown game"
        # A match of a tournament's file is asked for by its number there, and comes alone.
        matches = 1 if number else count
        return {**summary(told), "title": title, "matches": matches, "svg": shown}

    def _drawn_by(self, source: RecordSource, match: RecordedMatch) -> tuple[Game | None, SvgPainter]:
        key = source.text_of(match)
        if key not in self._known:
            game, _ = game_of(*key)
            painter = painter_of(match, game)
            if game is None:
                return None, painter
            self._known[key] = game, painter
            while len(self._known) > MOST_GAMES:
                self._known.popitem(last=False)
        self._known.move_to_end(key)
        return self._known[key]


def _end_of(told: dict[str, Any]) -> dict[str, Any]:
    """The record with no more than its last two states, so that others are not read."""
    states = told.get("states")
    if not isinstance(states, list):
        return told
    last = states[-2:]
    return {**told, "states": last, "moves": [[]] * (len(last) - 1), "errors": [], "stateTimes": []}
