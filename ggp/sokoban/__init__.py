"""What people see of Sokoban: levels drawn, solutions animated and written, what the analysis found."""
