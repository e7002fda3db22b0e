"""Tools of language models ask here: the Model Context Protocol over stdio, ``ggp mcp``."""
