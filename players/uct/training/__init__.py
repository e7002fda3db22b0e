"""Values learnt from self-play by searches.

:mod:`~players.uct.training.searched_play` plays, with the moves that :mod:`~players.uct.training.root_choice`
chooses; :mod:`~players.uct.training.play_terms` says on which terms, and what there is to learn from it;
:mod:`~players.uct.training.searched_training` learns weights from that, and
:mod:`~players.uct.training.net_training` a net. :mod:`~players.uct.training.play_processes` has others play
beside it: :mod:`~players.uct.training.play_process`.
"""
