"""Cover problems from the command line: searched, kept for later, told.

Read ``solve`` first.
"""
