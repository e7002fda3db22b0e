"""Work on several computers, behind one interface: nodes, workers on them, and calls that may be lost.

To read in this order: fleet (the interface), frames (what a message is), service (what a worker runs),
probe (the simplest service), local_fleet and worker_process (processes of this computer), ray_fleet and
ray_worker (Ray, the extra ``cluster``), ray_access (its tokens), ray_nodes (Ray's nodes on this computer),
permission (which addresses may be called), open_fleet (a fleet by its address).
"""
