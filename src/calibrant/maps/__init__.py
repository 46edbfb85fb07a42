"""Frozen maps: what a fit leaves behind. They are saved, loaded, inverted and exported, and need numpy alone."""
