"""Networks on disk: network_bytes writes and reads one, and finds it by the rules it comes from; file_store
keeps files."""
