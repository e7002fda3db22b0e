"""The JSON API of ``ggp web``: the questions of :mod:`ggp.answers`, described by ``/api/openapi.json``.

``routes`` answers, ``openapi`` describes.
"""
