"""The frontier search from the command line: what is asked, how it goes on, what comes out."""
