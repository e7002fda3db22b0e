"""Levels and solutions as files: tiles of vector shapes, drawn as SVG, PNG and GIF."""
