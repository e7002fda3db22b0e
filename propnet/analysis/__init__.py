"""What a network proves about its game: clocks, latches, factors, turns, bounds of goals.

To read in this order: cones (what depends on what), ternary (simulation of partly known states), latches,
goal_bounds and phases (what follows from it), longest (how long a match can last), cofactors and factors
(independent parts), symmetry, turns, and classify, which puts all of it together.
"""
