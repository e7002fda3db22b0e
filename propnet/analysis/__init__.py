"""Proofs about a network's game: clocks, latches, factors, turns, bounds of goals.

Read in this order: cones (dependence between propositions and moves), ternary (simulation of partly known
states, and its conclusions: latches, reachable goals, phases), longest (the longest match, and the time at
which clocks matter), factors (independent parts), and classify, which combines all of them.
"""
