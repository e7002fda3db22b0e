"""Sets of K boxes that can never be brought to goals, wherever the other boxes are: generated once per
geometry, frozen, and looked up after every push (H. Marxen's memo on deadlock sets for JSoko's optimizer,
2011)."""
