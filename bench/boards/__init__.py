"""Boards: ``python -m bench.boards`` draws a state of every game; ``sizes`` writes games on other boards."""
