"""The pages for replaying matches: records in the JSON that game managers publish, drawn step by step with
their faults marked, and saved as one HTML file.

:mod:`~ggp.web.replay.recorded` reads a record. :mod:`~ggp.web.replay.replay_process` finds its
rules, makes its card and draws it, in a process of its own. :mod:`~ggp.web.replay.routes` finds the files
of records, caches cards and answers pages.
"""
