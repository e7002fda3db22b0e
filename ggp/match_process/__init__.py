"""The processes beside the server: one thinks, one holds a legal move, both follow the match."""
