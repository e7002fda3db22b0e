"""Whether an assembly of pieces comes apart, and by which moves: a tree of separations."""
