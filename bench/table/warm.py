"""Loads the kernels by using them once: what is forked from a process that imported this has them."""

from __future__ import annotations

from ggp.bench import measure
from ggp.game import Game

measure("tictactoe", Game.load("tictactoe").rules, "propnet", 0.02, repetitions=1)
