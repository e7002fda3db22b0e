"""Learning and measuring: what states are worth, how fast machines are."""
