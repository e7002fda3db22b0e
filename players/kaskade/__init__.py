"""The kaskade: prover, network, native code, each built by a process; the furthest that is ready plays.

To read in this order: kaskade (the climb), stages (what is built), builder (both ends of a
process that builds), player (goes up), guided_machine (blunders left out of playouts), make_machine (one
machine, built here and now).
"""
