"""Matches looked at again: records that game managers, tournaments and we ourselves write.

``match_log`` reads and checks them; ``scenes`` finds their rules and draws their steps, in a process of its
own (``replay_process``), of which ``readers`` keeps a few; ``sources`` says where records are; ``export``
makes one HTML file of a match; ``routes`` answers.
"""
