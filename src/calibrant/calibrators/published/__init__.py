"""Methods as their papers have them: for comparisons, and for those who need just that."""
