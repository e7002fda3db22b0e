"""The choice of games: a card with a picture for each bundled game, level and packing puzzle.

:mod:`ggp.answers.catalogue` has the text of the cards. :mod:`~ggp.web.choice.routes` answers with their
pictures. :mod:`~ggp.web.choice.card_process` draws each picture once.
"""
