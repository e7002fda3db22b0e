"""Cover problems and packing puzzles for people: `ggp cover`, and drawings of what it finds."""
