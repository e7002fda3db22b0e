"""Better solutions: the shortest line within the vicinity of one that is known, and then of that one."""
