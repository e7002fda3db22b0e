"""What plays: the interface of players, the players by name, and what they search with."""
