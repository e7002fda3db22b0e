"""Levels: the files that people write them in, and the rules in GDL that they become."""
