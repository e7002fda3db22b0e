"""Proofs about a network's game: clocks, latches, the longest match.

Read in this order: cones (dependence between propositions and moves), ternary (simulation of partly known
states, and its conclusions: latches, phases), longest (the longest match, and the time at which clocks
matter), and random_play, which only observes.
"""
