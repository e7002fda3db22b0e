"""The layout of the arrays that the kernels of all engines share."""

UNDERWAY, FULL, OVER, DEEP = range(4)
"""Why a kernel stopped: enough nodes; the buffer of solutions is full; the search is complete; it needs
larger arrays."""

DEPTH, ENTERING, FOUND, NODES, FILLED, DELIVERED, OPEN, KILLED, EMPTY, CANDIDATES = range(10)
"""In ``scalars``, int64: the length of the path; whether a new node begins; solutions; nodes; options and
solutions in the buffer; items that are not covered. For dancing cells only: removed options, items that are
holes for good, candidates."""

ITEM, OPTION, TRIED, WIDTH, MARK, PICK_MARK, FIRST = range(7)
"""Columns of ``path``: the item of a node; the picked option; how many children are done, and the most there
can be. For dancing cells only: the length of the trail when the node and when the pick began, and the first
candidate, -1 if the item takes several options."""
