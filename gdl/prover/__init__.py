"""The bottom-up prover: a program becomes Python code that computes what is true in a state."""
