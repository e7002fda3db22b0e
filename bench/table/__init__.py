"""Every game on every machine: ``run`` measures, ``report`` writes tables (``published`` has the figures of
others), ``plot`` draws."""
