"""Drawings of networks: graph chooses what is drawn and writes DOT; svg lays it out in layers."""
