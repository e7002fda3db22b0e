"""Puzzles: solved, checked, written as rules."""
