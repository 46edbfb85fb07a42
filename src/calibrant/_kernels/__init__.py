"""Bare arrays in, arrays out: the mathematics, without checks and without classes."""
