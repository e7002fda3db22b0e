"""`ggp bench`: how fast machines are, measured, kept, compared."""
