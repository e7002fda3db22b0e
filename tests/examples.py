"""How many examples of a property a run tries: all of them with ``--slow all``, or else a third.

Each run draws others. So three runs try as many as one that tries all.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings

TURNS = 3
"""So many runs try as many as one run with ``--slow all``."""
FEWEST = 10
"""Where a property has so many examples, every run tries at least these."""
USUAL = 100
"""Examples of a property that says no number."""


def share(number: int, which: str) -> int:
    """How many of so many examples a run with ``--slow WHICH`` tries."""
    return number if which == "all" else max(min(number, FEWEST), -(-number // TURNS))


def try_share(which: str) -> None:
    """Have this run, with ``--slow WHICH``, try its share. It is called before properties are imported."""
    few = share(USUAL, which)
    # Where hypothesis believes to be on a server of CI, it would draw the same examples each time.
    settings.register_profile("a run", deadline=None, derandomize=False, max_examples=few)
    settings.load_profile("a run")


def examples(number: int, **more: Any) -> settings:
    """A property that is to be tried with so many examples in three runs; ``more`` as hypothesis names it."""
    which = "all" if settings.default.max_examples == USUAL else "none"
    return settings(max_examples=share(number, which), **more)
