"""Search processes: each with a tree of its own, their statistics shared by memory."""
