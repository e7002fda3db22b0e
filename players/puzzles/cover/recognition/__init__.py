"""One-player games that are constraint puzzles: a SAT solver finds the set of moves, then the moves are put
in order."""
