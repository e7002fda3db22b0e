"""The kaskade: prover, network, native code, each built by a process; the furthest that is ready plays.

To read in this order: kaskade (the climb), stages (what is built), builder (both ends of a
process that builds), player (goes up), guided_machine (blunders left out of playouts), make_machine (one
machine, built here and now).
"""

from __future__ import annotations

from typing import Final

LEVELS: Final = ("prover", "propnet", "native", "auto")
"""The machines by name; ``auto`` is the furthest that can be built."""
