"""The room where matches are replayed: records of any game manager that publishes the usual JSON, drawn step
by step, with what went wrong marked, and as one HTML file to keep.

:mod:`~ggp.web.replay.recorded` reads a record, :mod:`~ggp.web.replay.sources` finds its rules,
:mod:`~ggp.web.replay.replay_process` draws it in a process of its own, with
:mod:`~ggp.web.replay.record_card` its card, :mod:`~ggp.web.replay.shelf` knows where records lie,
:mod:`~ggp.web.replay.kept_cards` keeps cards, :mod:`~ggp.web.replay.routes` answers pages.
"""
