"""Rules and games: checked, written anew, looked into, recorded."""
