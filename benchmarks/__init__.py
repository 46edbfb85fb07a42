"""Measurements: speed, accuracy, the papers' tables. Not shipped."""
