"""What results say of players: ``scores`` (who did better), ``standing`` (who is rated), then ``ratings``
(Elo with intervals; is one of two stronger?); for people ``tables``, ``plots`` and ``report`` (one HTML
page with both).
"""
