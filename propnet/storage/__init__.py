"""Networks on disk: network_bytes writes and reads one, and finds it by its rules; file_store stores
files."""
