"""Values learnt from self-play by searches: :mod:`~players.uct.training.searched_play` plays,
:mod:`~players.uct.training.searched_training` learns from it.
"""
