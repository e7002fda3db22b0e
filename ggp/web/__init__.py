"""Pages in a browser, behind ``ggp web``: one aiohttp application, nothing from other hosts.

Read :mod:`~ggp.web.app` first: rooms add their routes there. :mod:`~ggp.web.gate` says who may ask and what a
page may do, :mod:`~ggp.web.shell` is the frame of every page, :mod:`~ggp.web.shell` sends events to many.
"""
