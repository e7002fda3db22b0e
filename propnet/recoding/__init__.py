"""Networks recoded to few bits: for propositions that exclude each other, the code of the true one is kept.

Read coding (the bits, and their gates), samples and find (the search for a coding), recoded (the network).
For playouts: registers (a network that keeps wide groups as codes, and the machine that uses it).
"""
