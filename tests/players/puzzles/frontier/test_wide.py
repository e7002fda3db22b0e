"""Searches with keys of several words find what searches with keys of one word find."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from players.puzzles.frontier.key_space import KeySpace
from players.puzzles.frontier.outcome import SearchLimits
from players.sorted_sets.keys import Keys
from propnet.recoding.recoded import Recoded
from tests.games.tiles import tiles
from tests.players.puzzles.frontier.plain import PLENTY, begun, machine_of, searched
from tests.players.puzzles.frontier.test_small_rooms import cramp


class _Wide(Keys):
    """Keys with a word that is always 0."""

    def __init__(self, key_bits: int) -> None:
        super().__init__(max(key_bits, 64))
        self._mask = Keys(key_bits)._mask.copy()
        self._mask.resize(self.words)


def widen(patch: pytest.MonkeyPatch) -> None:
    """Hold all keys as wide ones."""
    of = KeySpace.of

    def wide(cls: type[KeySpace], recoded: Recoded, clocks: bool) -> KeySpace:
        space = of(recoded, clocks)
        return replace(space, kind=_Wide(space.key_bits))

    patch.setattr(KeySpace, "of", classmethod(wide))


@pytest.mark.parametrize("name", ["eightpuzzle", "hanoi"])
@pytest.mark.parametrize("small", [False, True])
def test_wide_keys_find_the_layers_ends_and_lines_of_narrow_ones(
    name: str, small: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = machine_of(name)
    narrow = searched(machine)
    widen(monkeypatch)
    if small:
        cramp(monkeypatch, kept=20_000)
    wide = searched(machine, SearchLimits(PLENTY, tmp_path, workers=1 + small, symmetry=False))
    assert wide.layers == narrow.layers and wide.states == narrow.states
    assert {value: len(line) for value, line in wide.lines.items()} == {
        value: len(line) for value, line in narrow.lines.items()
    }
    assert wide.complete == narrow.complete and wide.value == narrow.value


FIFTEEN = [1, 2, 4, 10, 24, 54, 107, 212, 446, 946, 1948, 3938, 7808]
"""States of the 15-puzzle by distance from its goal (R. Korf and P. Schultze, 2005)."""


def test_the_fifteen_puzzle_has_keys_of_two_words_and_known_layers() -> None:
    search = begun(machine_of(tiles(4, 4)))
    while search._search is None or len(search._search.found.layers) <= len(FIFTEEN):
        assert not search.step(time.monotonic() + 0.02)
    layers, bits = search.result().layers, search.result().key_bits
    search.close()
    assert bits > 55
    assert layers[: len(FIFTEEN)] == FIFTEEN
