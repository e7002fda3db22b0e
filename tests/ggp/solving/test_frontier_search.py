"""`ggp explore`: what is told is true, faults are one line, Ctrl-C loses a layer at most."""

from __future__ import annotations


