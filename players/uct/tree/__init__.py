"""The search tree: flat arrays and the compiled loops on them (select, expand, back up, compact)."""
