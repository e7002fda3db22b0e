"""The players: their interface, the registry of players by name, and the searches they use."""
