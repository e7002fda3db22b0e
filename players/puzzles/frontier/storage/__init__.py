"""Storage for the coded blocks of the search: in memory while they fit, then in files from which it can
resume."""
