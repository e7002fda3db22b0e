"""The simple players: what a newcomer reads first, and what stronger players are measured against."""
