"""Few labels, many scores: estimates of the mean outcome, accuracy, precision and area, beside counting and peers.

From the root of the repository, FOLDER holding tables (score, label) as Parquet:

    python -m benchmarks.unlabelled.ours FOLDER --out ours.csv
    python -m benchmarks.unlabelled.peers ppi-python FOLDER --out ppi.csv     # in an environment that has it
    python -m benchmarks.unlabelled.summary ours.csv ppi.csv
    python -m benchmarks.unlabelled.prior FOLDER
    python -m benchmarks.unlabelled.billion

`ours` and `peers` draw the same rows. A row of their output is one answer: value, interval, and the truth about the
rows whose labels were hidden.
"""
