"""The UCT player: Monte Carlo tree search by batches of playouts, in several processes.

To read in this order: player, search (a tree and what works beside it), batches, tree, rollouts,
root_statistics (what is known of the root), workers. Self-play by searches, and what is learnt from it:
training. What was learnt says what leaves are worth: leaf_values.
"""
