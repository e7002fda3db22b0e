"""What the frontier search costs; `python -m bench.frontier` searches sliding tiles from their GDL."""
