"""The docs as a room of the page: ``pages`` makes HTML of their Markdown, ``routes`` shows it."""
