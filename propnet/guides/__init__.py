"""Guides: networks for playouts whose `legal` leaves out blunders. lookahead has what all kinds build on:
decisive (roles take turns), sure_ends (roles move at the same time) and dead_ends (one role: moves into
states that are known to be dead)."""
