"""Parameter-server training."""
