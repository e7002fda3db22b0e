"""``python -m bench.sokoban``: see :mod:`bench.sokoban.collection`."""

from __future__ import annotations

import sys

from bench.sokoban.collection import main

if __name__ == "__main__":
    sys.exit(main())
