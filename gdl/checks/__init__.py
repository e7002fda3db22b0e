"""What is wrong with rules: one module for each family of findings, `run` calls them all."""
