"""Public stylesheets draw states: ``ggp web --styles DIR``, a folder of XSLT 1.0 files that the user has.

``folder`` knows the files, ``state_xml`` writes what they read, ``style_process`` applies one, within limits,
``routes`` answers pages. Nothing that a stylesheet makes runs, and no request leaves for it.
"""
