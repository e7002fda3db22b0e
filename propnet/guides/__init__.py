"""Guides: networks for playouts whose `legal` leaves out blunders.

To read in this order: lookahead (what both kinds build on), decisive (roles take turns), sure_ends (roles
move at the same time), with_legality (the network that comes out).
"""
