"""Has nodes of Ray on this computer until it is killed: ``python -m tests.players.fleet.ray_owner``.

A process that it has forked before holds whatever pipes it has, and outlives it.
"""

from __future__ import annotations

import os
import time

from players.fleet.open_fleet import standing


def main() -> None:
    """Say where the nodes are, and wait."""
    with standing("local-ray:1") as address:
        if not os.fork():
            time.sleep(600)
        print(address, flush=True)
        time.sleep(600)


if __name__ == "__main__":
    main()
