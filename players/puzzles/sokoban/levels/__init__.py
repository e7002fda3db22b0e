"""Levels: reading level files, and writing levels as GDL rules."""
