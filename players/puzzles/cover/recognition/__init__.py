"""One-player games that are constraint puzzles: SAT says which moves to make, then they get an order."""
