"""A cover problem is made smaller before it is searched, without losing a solution."""
