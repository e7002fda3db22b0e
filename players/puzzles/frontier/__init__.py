"""The frontier: breadth-first search by sorting and merging, compressed, in the memory that the user says."""
