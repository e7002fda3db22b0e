"""Matches: watched, played, hosted, rated."""
