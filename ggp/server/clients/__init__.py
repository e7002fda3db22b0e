"""The clients of a server: ``connections`` takes their messages and replies, ``visitors`` refuses web pages
of other sites."""
