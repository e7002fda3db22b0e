"""One-player games: solvers that look for lines of moves, and the portfolio that divides time among them."""
