"""``python -m benchmarks.audit --repeats 300`` measures whether intervals hold; --out writes the table as CSV."""

import argparse
import csv
import importlib
import importlib.util
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

PARTS = ("blend", "classes", "measures")
COLUMNS = ("finding", "cell", "runs", "coverage", "width")


def _run(part: str, number: int, repeats: int) -> list[dict[str, Any]]:
    module = importlib.import_module(f"benchmarks.audit.{part}")
    rows: list[dict[str, Any]] = module.PARTS[number](repeats) if hasattr(module, "PARTS") else module.run(repeats)
    return [dict(zip(COLUMNS, row, strict=True)) if not isinstance(row, dict) else row for row in rows]


def _tasks() -> list[tuple[str, int]]:
    """Each function of a part that lists its `PARTS`, else the part as a whole."""
    tasks = []
    for part in PARTS:
        if importlib.util.find_spec(f"benchmarks.audit.{part}") is not None:
            module = importlib.import_module(f"benchmarks.audit.{part}")
            tasks += [(part, number) for number in range(len(getattr(module, "PARTS", (None,))))]
    return tasks


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = Parallel(n_jobs=2)(delayed(_run)(part, number, options.repeats) for part, number in _tasks())
    rows = sorted((row for rows in found for row in rows), key=lambda row: (len(row["finding"]), row["finding"]))
    for row in rows:
        print(f"{row['finding']:4} {row['cell']:50} {row['runs']:5} {row['coverage']:6.3f} {row['width']:8.4f}")
    if options.out is not None:
        with options.out.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in rows:
                numbers = (f"{row['coverage']:.3f}", f"{row['width']:.4f}")
                writer.writerow([row["finding"], row["cell"], row["runs"], *numbers])


if __name__ == "__main__":
    main()
