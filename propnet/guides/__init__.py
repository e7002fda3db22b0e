"""Networks for playouts whose `legal` leaves out blunders."""
