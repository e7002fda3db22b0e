"""What a network proves about its game: clocks, latches, factors, turns, bounds of goals.

To read in this order: cones (what depends on what), ternary (simulation of partly known states, and what
follows from it: latches, goals within reach, phases), longest (how long a match can last, when clocks
matter), factors (independent parts), colours (roles alike), and classify, which puts all of it together.
"""
