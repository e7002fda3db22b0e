"""The families of findings that :mod:`gdl.check` puts together, one module for each."""
