"""The player's server: connections, matches, turns, and the processes it keeps."""
