"""The arena: every method on many data sets and sizes, ours beside the peers'.

From the root of the repository:

    python -m benchmarks.arena run --out rows.csv --data FOLDER --sizes 100 1000 3000 --jobs 4
    python -m benchmarks.arena summary rows.csv --peers-csv recorded.csv
    python -m benchmarks.arena picture rows.csv --peers-csv recorded.csv --n 1000 --out arena.png

Peers come with ``pip install --group arena``; nothing outside this folder imports them, and one that is missing is
skipped with its reason in the column `error`.
"""
