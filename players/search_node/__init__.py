"""A node of a cluster searches for a player that plays elsewhere: host (the service that runs there)."""
