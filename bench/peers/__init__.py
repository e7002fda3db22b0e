"""Other systems from PyPI beside ours on one CPU thread: an environment for them, their loops, the table."""
