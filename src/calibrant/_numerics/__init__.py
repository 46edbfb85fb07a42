"""Bare arrays in, arrays out: numpy that several methods share, without checks."""
