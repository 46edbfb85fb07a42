"""Methods for a matrix of scores, a column for each class."""
