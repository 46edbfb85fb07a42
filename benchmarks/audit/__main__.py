"""``python -m benchmarks.audit --repeats 300`` measures whether intervals hold.

--out writes the table as CSV, part by part; lines that it has are replaced, so that ``--only F8 F10`` measures some
again and keeps the others. ``python -m benchmarks.audit --page CSV`` writes the page of coverage from such a table.
"""

import argparse
import csv
from pathlib import Path

from joblib import Parallel, delayed

from benchmarks.audit import Row, blend, classes, measures
from benchmarks.audit.page import SECTIONS, write_page

PARTS = [*classes.PARTS, *blend.PARTS, *measures.PARTS]


def run(number: int, repeats: int, seed: int) -> list[Row]:
    """The rows of one part; parts are sent to other processes by their number."""
    return list(PARTS[number][1](repeats, seed))


def read(path: Path) -> list[Row]:
    """The table that --out wrote."""
    with path.open(encoding="utf-8") as file:
        lines = list(csv.reader(file))[1:]
    return [Row(finding, cell, int(runs), float(held), float(width)) for finding, cell, runs, held, width in lines]


def write(rows: list[Row], path: Path) -> None:
    """The table as CSV, these rows in the place of older ones of the same name."""
    table = {(row.finding, row.cell): row for row in (*(read(path) if path.exists() else ()), *rows)}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Row._fields)
        writer.writerows(
            [*row[:3], f"{row.coverage:.3f}", f"{row.width:.4f}"]
            for row in sorted(table.values(), key=lambda row: (len(row.finding), row.finding))
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=list(SECTIONS), help="findings to measure; all unless given")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, help="a table of an earlier run, of which to write the page")
    options = parser.parse_args()
    if options.page is not None:
        write_page(read(options.page))
        return
    numbers = [n for n, (finding, _) in enumerate(PARTS) if not options.only or set(finding.split()) & {*options.only}]
    tasks = (delayed(run)(number, options.repeats, options.seed) for number in numbers)
    for rows in Parallel(n_jobs=options.jobs, return_as="generator")(tasks):
        for row in rows:
            print(f"{row.finding:5} {row.cell:60} {row.runs:5} {row.coverage:6.3f} {row.width:8.4f}", flush=True)
        if options.out is not None:
            write(rows, options.out)


if __name__ == "__main__":
    main()
