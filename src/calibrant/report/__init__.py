"""The report: one HTML file that says whether a model is calibrated, and what to do; the TRIPOD+AI checklist."""

from calibrant.report.page import write_report
from calibrant.report.tripod import TripodChecklist, fill_tripod

__all__ = ["TripodChecklist", "fill_tripod", "write_report"]
