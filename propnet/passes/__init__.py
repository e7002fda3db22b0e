"""Passes that make and rewrite the network, one module each."""
