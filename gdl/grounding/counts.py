"""Ground rules in numbers, and what each number counts."""

from __future__ import annotations

from gdl.grounding.ground_rules import GroundRules

MEANINGS = {
    "roles": "who plays",
    "base_propositions": "facts that may be true in a state",
    "moves": "moves of all roles together",
    "compile_s": "CPU s: rules without functions, in strata",
    "reach_s": "CPU s: what may ever hold, whatever is played",
    "instantiate_s": "CPU s: variables are replaced by constants",
    "assemble_s": "CPU s: atoms numbered, what is known left out",
    "ground_s": "CPU s: all of these steps",
    "reachable_atoms": "facts of all relations that may ever hold",
    "instances": "rules after variables were replaced",
    "auxiliary_atoms": "facts from splitting large rules (`part`)",
    "rules": "ground rules that are left at the end",
    "literals": "conditions in the bodies of these rules",
    "atoms": "facts, moves included, that these rules name",
}
"""What each of the statistics counts, for people."""


def counts_of(grounded: GroundRules) -> dict[str, float]:
    """The statistics of ground rules: counts, and CPU seconds of the passes that made them."""
    return {
        "roles": len(grounded.roles),
        "base_propositions": len(grounded.bases),
        "moves": grounded.move_count,
        **grounded.stats,
    }
