"""Many matches of one game side by side, stepped by a learning agent: `VectorMatch`.

Read lane_step (the compiled step of all lanes), then vector_match (which drives it and draws random moves).
"""
