"""A smooth curve around the identity."""
