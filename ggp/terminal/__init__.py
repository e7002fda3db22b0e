"""`ggp play`: a match in this process, shown to a person or written for a program."""
