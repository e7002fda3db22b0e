"""The room of puzzles: games of one role and packing puzzles, solved live by processes of their own."""
