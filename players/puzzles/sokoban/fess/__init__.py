"""FESS, feature space search: macro moves, the packing plan, features, advisors, and the search over cells."""
