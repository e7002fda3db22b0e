"""Work on several computers, behind one interface: nodes, workers on them, and calls that may be lost.

Read in this order: fleet (the interface, the services of workers, messages), ray_fleet (Ray, the extra
``cluster``), ray_nodes (its tokens, and its nodes on this computer), open_fleet (a fleet by its address, if
it may be called), survey (the state of the nodes).
"""
