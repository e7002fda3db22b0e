"""Sokoban, played like a specialist: from a level file, or from GDL rules that turn out to be Sokoban."""
