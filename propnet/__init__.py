"""The propositional network: a game as one circuit, and the machines that evaluate 512 states at once."""
