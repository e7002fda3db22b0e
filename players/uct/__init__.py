"""The UCT player: Monte Carlo tree search by batches of playouts, in several processes."""
