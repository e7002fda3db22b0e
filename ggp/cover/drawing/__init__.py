"""Solutions drawn: layers in the terminal, layers as SVG, and a page with the pieces in space."""
