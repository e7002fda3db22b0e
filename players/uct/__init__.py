"""The UCT player: Monte Carlo tree search by batches of playouts, in several processes.

Read the modules in this order: player, search (a tree and its companions), batches, tree, rollouts,
root_statistics (statistics of the root's moves), workers. In leads is the question whether two roles fight.
The package training learns from self-play by searches; leaf_values applies the result to the leaves of a
search.
"""
