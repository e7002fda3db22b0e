"""Searches on other computers. To read: relay (the process that asks them), node_link (one of them)."""
