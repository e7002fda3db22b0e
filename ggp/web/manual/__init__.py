"""The docs in the browser: ``pages`` makes HTML from their Markdown, ``routes`` answers requests for it."""
