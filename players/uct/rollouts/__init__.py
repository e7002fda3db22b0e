"""How playouts choose their moves, and which way is chosen for a game."""
