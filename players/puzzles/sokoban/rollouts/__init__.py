"""Playouts at push level that know deadlocks, and the tree search that plays out by them."""
