"""Finds out that a game is Sokoban, from its network alone, and proves it by comparing the two."""
