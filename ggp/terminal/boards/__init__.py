"""Boards that are found in rules, whatever the symbols are called, and drawn."""
