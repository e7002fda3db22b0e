"""FESS, feature space search: macro moves, packing plan, features, advisors, and the search over cells."""
