"""Stages of a kaskade whose builders are those of :mod:`tests.players.kaskade.odd_builders`."""

from __future__ import annotations

from gdl.machine import Machine, State
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from players.kaskade.builder import BuildJob
from players.kaskade.stages import Stage


class Named(ProverMachine):
    """A prover under another name."""

    def __init__(self, rules: Rules, level: str) -> None:
        super().__init__(rules)
        self.level = level


class Liar(Named):
    """Says that nothing is legal."""

    def legal_moves(self, state: State, role: int) -> list[int]:
        return []


def stage(level: str, function: str, **limits: float) -> Stage:
    """A stage whose machine is a prover, or whatever is delivered by name."""

    def load(rules: Rules, product: bytes, before: Machine | None) -> Machine:
        if product == b"liar":
            return Liar(rules, level)
        if product == b"unloadable":
            raise ZeroDivisionError("this cannot be loaded")
        return Named(rules, level)

    return Stage(level, BuildJob(f"tests.players.kaskade.odd_builders:{function}", **limits), load)  # type: ignore[arg-type]
