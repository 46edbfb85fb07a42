"""Limits on cells, each with its reason: below them nothing is merged, beyond them little is gained.

A tally of more distinct scores is merged into so many cells of nearly equal mass. Cost then no longer grows with rows.
Where exchanging the labels must mirror the map, the number is odd: then no row of equal mass lies on a boundary between
cells, where its side would depend on the direction.
"""

# Averaging over binnings costs O(cells²): 2048 cells take a second, and a bin of several rows loses nothing by merging.
BINNING_CELLS = 2048
# The intervals of ABB draw a thousand binnings; bins narrower than 1/256 of the rows are never supported by data.
BINNING_INTERVAL_CELLS = 256
# Within Blend, ABB is one of five members; an eighth of its cells moves the mixture by less than its own error.
BLEND_BINNING_CELLS = 255
# A smooth curve, or a temperature, is decided by far fewer points than rows: 201 quantiles of the scores.
SMOOTH_CELLS = 201
# Blend compares its members, and draws its intervals, at so many scores; a saved posterior is a table of as many.
BLEND_CELLS = 201
# The sums of Bayes-Iso cost O(cells³); a rising map with more steps than this looks the same.
MONOTONE_CELLS = 55
# Who asks for more gets up to this: tables of a hundred megabytes.
MOST_MONOTONE_CELLS = 201
# The bin of ACP is a whole confidence interval: cells need only be much narrower than that.
ACP_CELLS = 2048
# So many cells decide the two free weights of ensemble temperature scaling as well as all rows do.
WEIGHT_CELLS = 4096
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
# Hundreds of maps are drawn at every cell of unlabelled rows, and outcomes in it; an interval shows no finer cells.
ESTIMATE_CELLS = 512
# What a calibrator remembers of its labelled rows: where their scores lie, and how many are positive there.
LABELLED_CELLS = 512
