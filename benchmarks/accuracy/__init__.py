"""Accuracy where the truth, or a held-out sample, is known."""
