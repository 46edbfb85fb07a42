"""The exact average over all binnings."""
