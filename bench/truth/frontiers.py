"""Frontier searches of one-player games, however they are run, against all states.

A search may merge symmetric states, have little memory, or be closed and resumed at any layer: what it claims
is the same.
"""

from __future__ import annotations

import random
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from bench.truth.field import Case, Field
from bench.truth.puzzles import Truth, drawn_puzzle, random_puzzle
from players.puzzles.frontier.frontier import FrontierSearch
from players.puzzles.frontier.outcome import FrontierResult, SearchLimits
from propnet.machine import PropnetMachine

SECONDS = 40.0
"""Wall time that a search may take for what is found in milliseconds where it is found at all."""
PLENTY, LITTLE = 1 << 31, 1 << 22
"""Bytes that a search may use; with so little everything goes to files at once."""
MOST_FACTS = 8
_TO_FILES = 0.5
"""Of the searches that are resumed write their layers to files as they make them."""


def _examine(rng: random.Random, case: Case) -> None:
    puzzle = drawn_puzzle(rng, case, lambda: random_puzzle(rng, MOST_FACTS))
    if puzzle is None:
        return
    _, machine, truth = puzzle
    if machine.is_terminal(machine.initial_state()):
        return
    for symmetry in (True, False):
        plain = SearchLimits(PLENTY, symmetry=symmetry)
        merged = "" if symmetry else " without symmetry"
        with tempfile.TemporaryDirectory() as folder:
            _check(case, f"frontier{merged}", _searched(machine, plain, Path(folder)), truth)
        with tempfile.TemporaryDirectory() as folder:
            little = replace(plain, memory=LITTLE, workers=rng.choice((1, 2)))
            _check(case, f"little memory{merged}", _searched(machine, little, Path(folder)), truth)
        with tempfile.TemporaryDirectory() as folder:
            options = replace(plain, memory=LITTLE if rng.random() < _TO_FILES else PLENTY)
            _check(case, f"resumed{merged}", _resumed(machine, options, Path(folder), rng), truth)


def _begun(machine: PropnetMachine, options: SearchLimits) -> FrontierSearch:
    start = machine.records([machine.initial_state()]).copy()
    return FrontierSearch(machine, start, options)


def _finished(search: FrontierSearch) -> FrontierResult:
    end = time.monotonic() + SECONDS
    while not search.step(time.monotonic() + 0.2) and time.monotonic() < end:
        pass
    return search.result()


def _searched(machine: PropnetMachine, options: SearchLimits, folder: Path) -> FrontierResult:
    search = _begun(machine, replace(options, scratch=folder / "s"))
    result = _finished(search)
    search.close()
    return result


def _resumed(
    machine: PropnetMachine, options: SearchLimits, folder: Path, rng: random.Random
) -> FrontierResult:
    """Closed after each few steps, and resumed where a layer was finished, else begun anew."""
    scratch = folder / "s"
    for most in range(1, 100):
        search = _begun(machine, replace(options, scratch=scratch))
        more = any(search.step(time.monotonic() + 1e-5) for _ in range(rng.randint(1, 2 * most)))
        if more:
            result = search.result()
            search.close()
            return result
        search.close()
    raise AssertionError("it was resumed 100 times without an end")


def _check(case: Case, kind: str, result: FrontierResult, truth: Truth) -> None:
    case.check(f"{kind} lines", set(result.lines) <= set(truth.lengths), f"{set(result.lines)}")
    for value, line in result.lines.items():
        true = truth.lengths.get(value, 0)
        case.check(f"{kind} length", len(line) >= true, f"{value} in {len(line)} moves, true is {true}")
        if result.shortest:
            case.check(
                f"{kind} shortest", len(line) == true, f"value {value} in {len(line)} moves, true is {true}"
            )
    if result.proven:
        case.equal(f"{kind} proven", result.value, truth.best)
    if result.complete and result.shortest:
        case.equal(f"{kind} complete", set(result.lines), set(truth.lengths))
    case.check(f"{kind} ends with a proof", result.proven, f"of {truth.states} states")


FIELD = Field("frontiers", _examine)
