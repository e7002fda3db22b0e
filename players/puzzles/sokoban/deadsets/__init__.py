"""Sets of K boxes that no play can bring to goals, wherever the other boxes are: made once per geometry,
frozen, looked up after every push (H. Marxen's memo on deadlock sets for JSoko's optimizer, 2011)."""
