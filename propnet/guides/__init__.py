"""Guides: networks for playouts whose `legal` leaves out blunders. lookahead has what both kinds build on:
decisive (roles take turns) and sure_ends (roles move at the same time)."""
