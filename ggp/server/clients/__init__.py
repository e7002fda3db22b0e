"""The clients of a server: ``connections`` takes what they send and replies, ``visitors`` refuses web pages
of other sites."""
