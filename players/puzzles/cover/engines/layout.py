"""What stands where in the arrays that the kernels of all engines share."""

UNDERWAY, FULL, OVER, DEEP = range(4)
"""Why a kernel stopped: enough nodes; the buffer of solutions must be emptied; all is searched; it needs
larger arrays."""

DEPTH, ENTERING, FOUND, NODES, FILLED, DELIVERED, OPEN, KILLED, EMPTY, CANDIDATES = range(10)
"""In ``scalars``, int64: the length of the path; whether a new node begins; solutions; nodes; options and
solutions in the buffer; items that are not covered. Cells alone: options that are taken out, items that are
holes for good, candidates."""

ITEM, OPTION, TRIED, WIDTH, MARK, PICK_MARK, FIRST = range(7)
"""Columns of ``path``: the item of a node; the option that is picked; how many children are done, and how
many there are at most. Cells alone: the length of the trail when the node and when the pick began, and the
first candidate, -1 where the item takes several options."""
