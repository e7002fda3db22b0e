"""Pages in a browser, behind ``ggp web``: one aiohttp application, nothing from other hosts.

Read :mod:`~ggp.web.app` first: it adds the routes of all pages and looks after their processes.
:mod:`~ggp.web.gate` checks requests and sets security headers, :mod:`~ggp.web.visits` counts connections,
:mod:`~ggp.web.shell` is the frame of every page and its events. ``tournaments``, ``puzzles``, ``rules``,
``manual`` and ``api`` have pages. The modules ``..._process`` work on untrusted input.
"""
