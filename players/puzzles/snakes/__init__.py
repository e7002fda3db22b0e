"""Snakes that eat, push and fall: level files, and the GDL rules made from levels."""
