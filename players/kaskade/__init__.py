"""The kaskade: prover, network, native code, each built by a process; the furthest one that is ready plays.

Read in this order: kaskade (the climb), stages (the machines and how they are built), builder (both ends of a
process that builds), player (moves to faster machines), until_compiled (another player in its place),
guided_machine (playouts without blunders), make_machine (one machine, built here and now).
"""

from __future__ import annotations

from typing import Final

LEVELS: Final = ("prover", "propnet", "native", "auto")
"""The machines by name; ``auto`` is the furthest that can be built."""
