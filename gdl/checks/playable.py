"""Whether the machines can play the rules: the passes that all of them start with are tried."""

from __future__ import annotations

from collections.abc import Iterator

from gdl.checks.diagnostic import Diagnostic, error, of_error
from gdl.compile.pipeline import compile_rules
from gdl.errors import GdlError, Place, TooLargeError
from gdl.rules import Rules

UNSTRATIFIED_NEGATION = error("unstratified-negation", "break the cycle: rules must be stratified")
TOO_LARGE = error("too-large", "use fewer alternatives per rule")
NOT_PLAYABLE = error("not-playable", "see the message")


def check_playable(rules: Rules) -> Iterator[Diagnostic]:
    """An error where the rules cannot be normalized, flattened or stratified."""
    try:
        compile_rules(rules)
    except GdlError as fault:
        kind = TOO_LARGE if isinstance(fault, TooLargeError) else UNSTRATIFIED_NEGATION
        if kind is TOO_LARGE or "its own negation" in fault.message:
            yield kind.at(fault.place or Place(), fault.message)
        else:
            yield of_error(fault)
