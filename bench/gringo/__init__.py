"""Our grounder beside gringo: ``translate`` writes GDL as an answer set program, ``compare`` takes times."""
