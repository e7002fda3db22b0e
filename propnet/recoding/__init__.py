"""Networks recoded to few bits: of propositions that exclude each other only which one is true is kept.

Read coding (which bits, and their gates), samples and find (how a coding is found), recoded (the network).
For playouts: registers (a network that keeps wide groups as codes), playing (the machine that uses it).
"""
