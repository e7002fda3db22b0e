"""Values learnt from self-play by searches: :mod:`~players.training.searched_play` plays,
:mod:`~players.training.searched_training` learns from it.
"""
