"""The report: one HTML file that says whether a model is calibrated, and what to do about it."""

from calibrant.report.page import write_report

__all__ = ["write_report"]
