"""Packing puzzles as games in GDL: one piece a move, so that people and players can try them."""
