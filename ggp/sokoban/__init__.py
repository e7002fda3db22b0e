"""Sokoban for people: draws levels, animates and writes solutions, explains findings; pictures are vector
tiles, drawn as SVG, PNG and GIF."""
