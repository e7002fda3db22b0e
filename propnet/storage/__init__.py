"""Networks on disk: as bytes, and in files that are found by the rules they come from."""
