"""Processes: started, forked warm, limited."""
