"""Networks on disk: network_bytes writes and reads one, file_store keeps files, network_cache finds a
network by the rules it comes from."""
