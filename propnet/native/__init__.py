"""A network as machine code of its own.

Read layout (the order of gates, their wires), codegen (LLVM's assembly language, and the plan of the part
that is interpreted until it is compiled), object_cache (object files, in memory and on disk) and machine.
"""
