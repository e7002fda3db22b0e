"""Pictures of networks: graphs in layers, as SVG or DOT."""
