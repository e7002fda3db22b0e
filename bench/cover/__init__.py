"""Exact covers of all kinds: our choice of an engine beside the best engine and beside other programs."""
