"""The default: a weighted average of other methods."""
