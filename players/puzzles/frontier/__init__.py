"""Breadth-first search of hundreds of millions of states: sorted and merged runs instead of hash tables."""
