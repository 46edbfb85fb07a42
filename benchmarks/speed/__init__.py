"""Speed as ratios in one run; `scripts/bench` runs every file."""
