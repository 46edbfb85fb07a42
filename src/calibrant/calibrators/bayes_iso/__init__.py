"""The posterior mean over all non-decreasing maps."""
