"""Rules and games: check, rewrite, inspect and record them."""
