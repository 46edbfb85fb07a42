from calibrant.report.page import write_report as write_report
from calibrant.report.tripod import TripodChecklist as TripodChecklist
from calibrant.report.tripod import fill_tripod as fill_tripod
