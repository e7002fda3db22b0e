"""The room where rules are written: findings as one types, formats, counts, the network drawn.

``routes`` answers; ``rules_process`` does the work, in a process of its own for each page.
"""
