"""The states that a role may hold for possible in games of hidden information.

Read ``worlds`` (states side by side on any machine; in lanes: ``lane_worlds``), then ``belief`` (the states
that fit a role's percepts, and the likelihood of each proposition).
"""
