"""The pages of packing puzzles: live solving, the pieces in 3D, and how to take them apart."""
