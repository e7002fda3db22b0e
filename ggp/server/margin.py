"""The margin: the time before the end of a clock at which the answer leaves, learnt from measured delays.

The manager's clock runs from before it connects until it has read the reply. It loses the delays of

* the network: two round trips of the connection, which the kernel measures (``TCP_INFO``). The time between a
  reply and the next request cannot measure it, since the other players think meanwhile.
* the event loop: the lateness of its timers when the computer is busy.
* the player: the time from its deadline until its answer arrives here.

For each the peak is kept, which fades by :data:`FADING` every turn. The margin is ``LEAST + SAFETY * (sum of
the peaks)``. While there are few measurements the configured margin replaces them and fades in the same way.
The margin is at least :data:`LEAST`, or :data:`NEAR_LEAST` for a manager so near that no network can be late.
It is at most a quarter of the clock by the configured margin, and at most half of it by measurements. If the
kernel reports no round trips, the configured margin stays the minimum.
"""

from __future__ import annotations

import socket
import struct
import sys

LEAST = 0.3
"""Seconds that no measurement removes: for delays so rare that a match may see none."""
NEAR_LEAST = 0.06
"""The same if round trips are shorter than :data:`_NEAR_SECONDS`."""
_NEAR_SECONDS = 0.001
_SAFETY = 2.0
"""The factor by which the measured delays are multiplied."""
FADING = 0.85
"""The part of a peak that is left after a turn: half of it after four turns."""
MOST = 1.0
"""The longest delay that counts, in seconds: a player that hangs is not a slow connection."""
_CONFIGURED_SHARE = 0.25
"""The most of a clock that the configured margin may take."""
_MEASURED_SHARE = 0.5
"""The most of a clock that measured delays may take."""
_ROUND_TRIPS = 2
"""Connecting is one, the message and its reply are the other."""
_RTT_OFFSET = 68
"""The offset of ``tcpi_rtt`` (microseconds, 32 bits) in Linux' ``struct tcp_info``."""


class Margin:
    """The margin of one match; ``configured`` seconds to begin with."""

    def __init__(self, configured: float) -> None:
        self._configured = configured
        self._trust = configured
        self._measured_trips = False
        self._peaks = {"trip": 0.0, "lag": 0.0, "overshoot": 0.0}

    @property
    def delay(self) -> float:
        """The delay that is expected, in seconds: the sum of the peaks."""
        return sum(self._peaks.values())

    def spare_time(self, clock: float) -> float:
        """The seconds before the end of this clock at which the answer should leave."""
        near = self._measured_trips and self._peaks["trip"] < _NEAR_SECONDS * _ROUND_TRIPS
        least = min(NEAR_LEAST if near else LEAST, self._configured)
        needed = _SAFETY * self.delay
        calm = min(max(self._trust, least + needed), clock * _CONFIGURED_SHARE)
        return max(calm, min(needed, clock * _MEASURED_SHARE))

    def round_trip(self, seconds: float | None) -> None:
        """Note the round trip time of a connection; None if it is not known."""
        if seconds is not None:
            self._measured_trips = True
            self._note("trip", seconds * _ROUND_TRIPS)

    def lag(self, seconds: float) -> None:
        """Note the lateness of the event loop, in seconds."""
        self._note("lag", seconds)

    def overshoot(self, seconds: float) -> None:
        """Note the seconds from the player's deadline to its answer, and that a turn is over."""
        for kind in self._peaks:
            self._peaks[kind] *= FADING
        if self._measured_trips:
            self._trust *= FADING
        self._note("overshoot", seconds)

    def _note(self, kind: str, seconds: float) -> None:
        self._peaks[kind] = max(self._peaks[kind], min(seconds, MOST))


def round_trip(connection: object) -> float | None:
    """The round trip time of a TCP connection as the kernel has measured it, in seconds; None if it is not
    available. ``connection`` is a socket, or the socket object of asyncio."""
    getsockopt = getattr(connection, "getsockopt", None)
    if sys.platform != "linux" or getsockopt is None:
        return None
    try:
        info = getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _RTT_OFFSET + 4)
        return float(struct.unpack_from("I", info, _RTT_OFFSET)[0]) / 1e6
    except (OSError, struct.error):
        return None
