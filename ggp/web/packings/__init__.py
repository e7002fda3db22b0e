"""The room of packing puzzles: solved while one looks on, the pieces in space, how they come apart."""
