"""Pages in a browser, behind ``ggp web``: one aiohttp application, nothing from other hosts.

Read :mod:`~ggp.web.app` first: rooms add their routes there. :mod:`~ggp.web.gate` says who may ask and
what a page may do, :mod:`~ggp.web.visits` counts connections, :mod:`~ggp.web.shell` is the frame of every
page and its events, :mod:`~ggp.web.overseer` keeps the processes. ``tournaments``, ``puzzles``, ``rules``,
``boards`` and ``api`` are rooms; what strangers bring is worked on in ``..._process``.
"""
