"""Whether the processors suffice for the matches that are played, and for one more."""
