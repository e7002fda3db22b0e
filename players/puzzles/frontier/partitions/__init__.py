"""The frontier spread over a fleet: each part holds the states whose keys hash to it, and finds duplicates.

To read in this order: owners (which part owns a key), coded_blocks and packed_network (what travels),
part_expansion and part (what runs on the nodes), crew (workers that are started, and replaced when lost),
search (who leads them).
"""
