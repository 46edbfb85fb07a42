from calibrant.monitoring.closed_testing import adjust_e_values as adjust_e_values
from calibrant.monitoring.comparison import TallyChange as TallyChange
from calibrant.monitoring.comparison import TallyComparison as TallyComparison
from calibrant.monitoring.comparison import compare_tallies as compare_tallies
from calibrant.monitoring.monitor import CalibrationMonitor as CalibrationMonitor
from calibrant.monitoring.refit import update as update
