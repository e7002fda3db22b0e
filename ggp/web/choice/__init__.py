"""The choice of games: a card with a picture for each game, level and packing puzzle that comes along.

:mod:`ggp.answers.catalogue` knows what stands on the cards, :mod:`~ggp.web.choice.routes` answers with
their pictures, which :mod:`~ggp.web.choice.card_process` draws, each once.
"""
