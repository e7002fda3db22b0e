"""One module per subcommand of ``ggp``; each defines ``command``, loaded only when it is called."""
