"""Rollout policies: how playouts choose their moves, and how a search selects one for a game."""
