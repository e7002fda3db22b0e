"""What the server knows of a match from its processes: the moves made, and what may be legal next."""
