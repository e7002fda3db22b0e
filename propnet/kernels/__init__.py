"""The compiled loops over 512 lanes: gates, steps, choices of moves, playouts, expansion."""
