"""Every game on every machine: ``run`` measures, ``report`` writes tables beside the figures of others."""
