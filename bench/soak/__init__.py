"""A server under stress: ``run`` starts and harms it, a ``game_manager`` per match plays against it and
trusts no reply."""
