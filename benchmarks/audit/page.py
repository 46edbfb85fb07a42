"""The page of coverage in the documentation, made from the table of the audit."""

from __future__ import annotations

from pathlib import Path

from benchmarks.audit import Row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "coverage.md"
LOW, HIGH = 0.87, 0.95

INTRODUCTION = """# How often the intervals hold

90 % intervals of the library on data whose truth is known: how often they held the truth, and how wide they were. A
cell outside {low:.2f} to {high:.2f} is bold. With 300 runs the figures have a standard error of about 0.02, and less
where each run is an average over many scores. Above {high:.2f} an interval is wider than it need be. That is so above
all where the truth is what a method expects before it sees a row, calibrated scores or no difference between segments:
its estimate is then better than an interval can say that must hold under other truths, too.

    python -m benchmarks.audit --repeats 300 --seed 29011 --out benchmarks/audit/recorded.csv
    python -m benchmarks.audit --page benchmarks/audit/recorded.csv

The second command writes this page; all of it is from one run of the first.
"""

#: finding → heading, and what was done
SECTIONS = {
    "F1": (
        "Decision scores",
        """
`Blend(space="decision")` where the truth is a logistic line (with no slope, 0.5 and 2), and a classifier on noise.
""",
    ),
    "7": (
        "One probability",
        """
`Blend` under seven truths: a sigmoid, a flat line, a wave, a step, calibrated scores, rare events, a constant. A smooth
prior cannot follow a wave with 100 rows; expect 0.83 there and not 0.90.
""",
    ),
    "F2": (
        "The mean of rows without labels",
        """
`estimate` of 2000 rows from few labels; "shift" means that their scores are distributed otherwise.
""",
    ),
    "F3": (
        "Other numbers of rows without labels",
        """
The same fits; accuracy, recall and the area under the ROC curve.
""",
    ),
    "judge": (
        "A judge with few labels",
        """
The mean of 5000 rows by a judge. In the place of the width stands the error as a multiple of that of counting labels.
""",
    ),
    "F12": (
        "Draws and intervals",
        """
In the place of the coverage stands the largest gap between the mean of the draws and the prediction; in the place of
the width, the share of the interval's width that the draws have.
""",
    ),
    "F8": (
        "Classes with slopes of their own",
        """
The true probabilities are softmax(a_k ln p_k), with a from 0.4 to 1.6.
""",
    ),
    "1": (
        "Score matrices",
        """
`Blend` of a matrix where the scores are calibrated, and where part of each class is taken for the next one, which is
none of the models that are mixed.
""",
    ),
    "F9": (
        "Segments with slopes of their own",
        """
30 segments of 15 to 800 rows; slopes differ by 0.4 a logit.
""",
    ),
    "2": (
        "Segments under other truths",
        """
Heavy tails, and no difference at all.
""",
    ),
    "F4": (
        "The same rows",
        """
5000 rows of a matrix: the share of runs in which no probability moved by more than 1e-6, and the largest move.
""",
    ),
    "F6": (
        "Equivalence",
        """
Bounds of the mean distance, and how often the right conclusion was drawn.
""",
    ),
    "F7": (
        "The value of calibration",
        """
A map that changes few decisions, right or too weak.
""",
    ),
    "F10": (
        "What calibrating again would gain",
        """
Against its own expectation.
""",
    ),
    "F11": (
        "The cutoff error",
        """
Of calibrated probabilities, whose error is 0.
""",
    ),
}
NOT_INTERVALS = {"F4", "F6", "F12"}


def render(rows: list[Row]) -> str:
    """The text of the page."""
    parts = [INTRODUCTION.format(low=LOW, high=HIGH)]
    for finding, (heading, text) in SECTIONS.items():
        cells = [row for row in rows if row.finding == finding]
        if cells:
            parts.append(f"\n## {heading}\n{text}\n| case | runs | held | width |\n|---|--:|--:|--:|\n")
            parts += [_line(row) for row in cells]
    return "".join(parts)


def _line(row: Row) -> str:
    outside = row.finding not in NOT_INTERVALS and not LOW <= round(row.coverage, 2) <= HIGH
    held = f"**{row.coverage:.3f}**" if outside else f"{row.coverage:.3f}"
    width = "" if row.width != row.width else f"{row.width:.3g}"  # nan: there is none
    return f"| `{row.cell}` | {row.runs or ''} | {held} | {width} |\n"


def write_page(rows: list[Row]) -> None:
    """Replace the page."""
    PAGE.write_text(render(rows), encoding="utf-8")
