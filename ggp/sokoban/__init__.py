"""What people see of Sokoban: levels drawn, solutions animated and written, what the analysis found; and
pictures: tiles of vector shapes, drawn as SVG, PNG and GIF."""
