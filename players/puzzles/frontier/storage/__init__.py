"""Where the search keeps its coded blocks: in memory as far as it may, then in files that it resumes from."""
