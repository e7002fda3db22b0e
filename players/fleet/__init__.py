"""Work on several computers, behind one interface: nodes, workers on them, and calls that may be lost.

To read in this order: fleet (the interface, what a worker runs, what a message is), local_fleet
(processes of this computer), ray_fleet (Ray, the extra ``cluster``), ray_nodes (its tokens, and its nodes on
this computer), open_fleet (a fleet by its address, where that may be called), survey (what the nodes do).
"""
