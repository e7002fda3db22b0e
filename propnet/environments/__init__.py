"""Many matches of one game side by side, stepped by whoever learns from them: `VectorMatch`.

Read lane_step (the compiled step of all lanes), random_moves (uniform choice by masks) and vector_match (what
drives them).
"""
