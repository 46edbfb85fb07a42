"""Limits on cells, each with its reason: more distinct scores are first joined to so many cells of equal mass."""

from __future__ import annotations

# A replicate costs O(cells) and there are hundreds; the shift that joining makes is taken back.
BOOTSTRAP_CELLS = 512
# Each of some hundred draws of a map is evaluated at every cell; maps of this library bend far more slowly.
POSTERIOR_CELLS = 2048
# Local regression costs O(cells²).
LOESS_CELLS = 1024
# Three parameters need no finer tally.
BINOMIAL_PROCESS_CELLS = 10_000
# A sweep tries every number of bins, so it costs the square of this.
SWEEP_BINS = 4096
# Folds of 18 methods: their losses differ by more than joining changes them.
COMPARISON_CELLS = 4096
# A page shows no difference beyond this, whatever the number of rows.
REPORT_CELLS = 2**15
# Each segment of a page is fitted and drawn by itself.
SEGMENT_CELLS = 4096
# A kernel estimate costs O(cells) at each of its places.
DENSITY_CELLS = 512
