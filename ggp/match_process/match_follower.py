"""Follows one match on the prover for one role, and names a legal move in each turn before any search."""

from __future__ import annotations

import random

from gdl.errors import GdlError, RulesError
from gdl.machine import Machine
from gdl.prover.machine import ProverMachine
from gdl.rules import Rules
from gdl.syntax.parser import parse_term
from ggp.match_process.match_state import Ledger
from ggp.processes.parent import Message, Send


class Follower:
    """What a match process and a keeper have in common.

    Attributes:
        ledger: where the match stands.

    Raises:
        GdlError: the match cannot be played.
    """

    def __init__(self, rules: Rules, message: Message, send: Send) -> None:
        self._send = send
        self._rng = random.Random(message["seed"])
        machine = ProverMachine(rules)
        self.ledger = Ledger(machine, _role_id(machine, message["role"]), self._log)
        if machine.is_terminal(self.ledger.state):
            self._log("warning", "the game is over before it begins")
        elif not self.ledger.options():
            raise RulesError(f"{message['role']} has no legal move at the beginning")
        self.ledger.replay(message["history"])

    def play(self, message: Message) -> tuple[list[int], str] | None:
        """Follow what was played, and tell a safe move. The legal moves and that one; None where the
        PLAY was seen before and its answer was given once more."""
        ledger = self.ledger
        turn, answered = message["id"], message["answered"]
        before = len(ledger.history)
        if message["advanced"]:
            ledger.resume(message["moves"])
            before -= message["moves"] is not None
        elif (
            not ledger.follow(message["moves"], answered, message["delivered"], message["late"])
            and answered is not None
        ):
            self._send("move", id=turn, move=answered, again=True)
            return None
        options = ledger.options()
        safe = ledger.text(ledger.role, self._rng.choice(options)) if options else "nil"
        joint = ledger.history[-1] if len(ledger.history) > before else None
        self._send("options", id=turn, safe=safe, joint=joint)
        return options, safe

    def finish(self, message: Message) -> None:
        """The match is over: report the goals."""
        goals = self.ledger.finish(message["moves"])
        self._send("over", goals=goals, turns=len(self.ledger.history))

    def _log(self, level: str, event: str, **fields: object) -> None:
        self._send("log", level=level, event=event, fields=fields)


def _role_id(machine: Machine, name: str) -> int:
    try:
        return machine.role_id(parse_term(name))
    except GdlError as error:
        raise RulesError(error.message, remedy=error.remedy) from None
