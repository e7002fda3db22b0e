"""What is proven of a game by its network: latches, clocks, factors, turns, bounds of goals."""
