"""The language: from rules text to a machine that answers what the rules mean.

The names in ``__all__`` are the public interface of the package; each is loaded at its first use, so
that ``import gdl`` costs nothing.

>>> import gdl
>>> rules = gdl.parse_rules("(role you) (legal you wait) (<= terminal (true over))")
>>> [str(rule.head) for rule in rules]
['(role you)', '(legal you wait)', 'terminal']
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gdl.checks.run import Diagnostic, Severity, check_text
    from gdl.errors import GdlError, MoveError, ParseError, Place, RulesError, StateError, TooLargeError
    from gdl.grounding.ground_rules import GroundRules
    from gdl.grounding.pipeline import GroundLimits
    from gdl.machine import Machine, Playouts, State
    from gdl.prover.machine import ProverMachine
    from gdl.rules import And, Literal, Not, Or, Rule, Rules
    from gdl.scramble import rename
    from gdl.syntax.format import format_text
    from gdl.syntax.parser import parse_rules, parse_term, parse_terms
    from gdl.terms import Term

_HOMES = {
    "errors": ("GdlError", "MoveError", "ParseError", "Place", "RulesError", "StateError", "TooLargeError"),
    "terms": ("Term",),
    "rules": ("And", "Literal", "Not", "Or", "Rule", "Rules"),
    "syntax.parser": ("parse_rules", "parse_term", "parse_terms"),
    "checks.run": ("Diagnostic", "Severity", "check_text"),
    "syntax.format": ("format_text",),
    "scramble": ("rename",),
    "machine": ("Machine", "Playouts", "State"),
    "prover.machine": ("ProverMachine",),
    "grounding.pipeline": ("GroundLimits",),
    "grounding.ground_rules": ("GroundRules",),
}
_HOME = {name: f"gdl.{module}" for module, names in _HOMES.items() for name in names}

# Text to rules, layout, other names.
__all__ = ["parse_rules", "parse_term", "parse_terms", "format_text", "rename"]
# Rules and their faults (see also gdl.checks.run.check, gdl.scramble.scramble).
__all__ += ["Rules", "Rule", "Literal", "Not", "And", "Or", "Term", "check_text", "Diagnostic", "Severity"]
# Machines for rules, and rules without variables (see also gdl.grounding.pipeline.ground).
__all__ += ["Machine", "State", "Playouts", "ProverMachine", "GroundRules", "GroundLimits"]
# Errors.
__all__ += ["GdlError", "ParseError", "RulesError", "TooLargeError", "MoveError", "StateError", "Place"]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'gdl' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
