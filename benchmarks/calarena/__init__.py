"""calibrant in CalArena, the public benchmark of calibrators: its slot, a patch for probmetrics, and a run."""
