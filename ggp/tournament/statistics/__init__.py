"""What results say of players: ``scores`` (who did better), then ``ratings`` (Elo with intervals) and
``sprt`` (is one of two stronger?)."""
