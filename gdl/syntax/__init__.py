"""Text to terms and back: the scanner of KIF, the parser of rules, the formatter."""
