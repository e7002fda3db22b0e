"""The frontier spread over a fleet: each part holds the states whose keys hash to it, and finds duplicates.

To read in this order: messages (what travels), part (what runs on the nodes, and which part owns a key), crew
(workers that are started, and replaced when lost), search (who leads them).
"""
