"""Traces: random matches as JSON lines, state by state.

``record`` writes them (``ggp playthrough``), ``verify`` replays them against a machine (``ggp verify``).
"""
