"""Many matches of one game side by side, stepped by a learning agent (vector_match); the information of one
role of a hidden game, as numbers (senses).
"""
