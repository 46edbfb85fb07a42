"""Is a deployed calibration still right? Tests that may be looked at every day, and refits without the old rows."""

from calibrant.monitoring.classes import MatrixMonitor, compare_matrices
from calibrant.monitoring.monitor import CalibrationMonitor, TallyComparison, compare_tallies, update
from calibrant.monitoring.segments import SegmentComparison, SegmentMonitor, compare_segments

__all__ = [
    "CalibrationMonitor",
    "MatrixMonitor",
    "SegmentComparison",
    "SegmentMonitor",
    "TallyComparison",
    "compare_matrices",
    "compare_segments",
    "compare_tallies",
    "update",
]
