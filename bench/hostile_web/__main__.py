"""Does ``ggp web`` answer whatever comes, and go on? And ``ggp serve``, whoever asks?

    python -m bench.hostile_web --count 10000
    python -m bench.hostile_web --only tables

tries every attack on servers of its own, and prints for each what was seen and whether the server held. Exit
status 1 where one did not.
"""

from __future__ import annotations

import sys
import time

from bench.hostile_web import crowds, files, floods, mutated
from bench.hostile_web.attack import Attack
from bench.scripts import command_line

MODULES = (files, mutated, crowds, floods)
ATTACKS: list[Attack] = [attack for module in MODULES for attack in module.ATTACKS]
SHOWN = 20


def main() -> int:
    """The command line."""
    parser = command_line(__doc__)
    parser.add_argument("--count", type=int, default=1000, help="requests of attacks that send many")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="WORD", help="attacks whose names have this word")
    options = parser.parse_args()
    faults = 0
    for attack in ATTACKS:
        if options.only not in attack.name:
            continue
        began = time.monotonic()
        verdict = attack.run(options.count, options.seed)
        word = "DID NOT HOLD" if verdict.faults else "held"
        print(f"{word}: {attack.name} ({time.monotonic() - began:.0f} s)\n{verdict.figures}", flush=True)
        for fault in verdict.faults[:SHOWN]:
            print(f"   {fault}")
        faults += len(verdict.faults)
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
