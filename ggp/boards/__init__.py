"""Boards: ``board`` finds one in the rules, whatever the symbols are called (``coordinates`` puts its sides
in order); ``text`` draws it."""
