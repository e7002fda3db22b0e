"""Proof-number search beside the tree."""
