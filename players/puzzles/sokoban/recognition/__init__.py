"""Recognise that a game is Sokoban from its network alone, and prove it by comparison with a model of
Sokoban."""
