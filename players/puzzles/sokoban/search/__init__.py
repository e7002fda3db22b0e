"""Searches for pushes that solve a position, forwards and backwards, and the portfolio that runs them."""
