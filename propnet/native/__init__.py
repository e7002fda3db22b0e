"""A network as machine code of its own: layout, LLVM text, assembly, the cache of objects."""
