"""Several scores of a row, one probability."""
