"""Snakes that eat, push and fall: levels as people draw them, and the rules in GDL that they become."""
