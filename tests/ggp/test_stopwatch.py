"""Both times of a search are those of the same span."""

from __future__ import annotations

import re
import time

from ggp.stopwatch import Stopwatch


def test_the_time_before_counts_in_neither() -> None:
    end = time.process_time() + 0.3
    while time.process_time() < end:
        pass
    watch = Stopwatch()
    assert re.fullmatch(r"0\.0\d CPU seconds, \d+\.\d\d s by the clock", str(watch))
    assert 0 <= watch.cpu < 0.3


def test_a_thread_uses_no_more_than_what_passes() -> None:
    watch = Stopwatch()
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    cpu = watch.cpu
    assert 0.04 < cpu <= watch.wall + 0.02
