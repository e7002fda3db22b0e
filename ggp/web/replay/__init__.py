"""The room where matches are replayed: records of any game manager that publishes the usual JSON, drawn step
by step, with what went wrong marked, and as one HTML file to keep.

:mod:`~ggp.web.replay.recorded` reads a record, :mod:`~ggp.web.replay.sources` finds its rules, and makes its
card, :mod:`~ggp.web.replay.replay_process` draws it in a process of its own, :mod:`~ggp.web.replay.shelf`
knows where records lie and keeps cards, :mod:`~ggp.web.replay.routes` answers pages.
"""
