"""Programs that others ask: a player, nodes of a cluster, tools."""
