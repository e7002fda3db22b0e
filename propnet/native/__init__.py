"""A network as machine code of its own.

Read layout (the order of gates, their wires), codegen (LLVM's assembly language), assembler (object files),
object_cache (these on disk), piecewise (what is interpreted until it is compiled) and machine.
"""
