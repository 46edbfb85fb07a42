"""demo: the whole job on a bundled data set."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

from calibrant.cli.compare import run_comparison, show_comparison
from calibrant.cli.options import option
from calibrant.cli.printing import check_target
from calibrant.cli.report import write_page

if TYPE_CHECKING:
    from calibrant.tally import Tally

__all__ = ["demo"]

BEFORE = """\
AdaBoost, trained on a third of scikit-learn's handwritten digits, predicts how likely each of the others is above four.
Can its probabilities be trusted, and if not, which calibration fixes them?

"""
AFTER = """
The report is in {output}; open it in a browser. With data of your own, in columns score and label:

  calibrant compare data.csv                     # which method?
  calibrant report data.csv -o report.html       # the same page
  calibrant fit data.csv -o model.json           # learn the map
  calibrant apply model.json new.csv -o out.csv  # use it
"""


def demo(
    output: Annotated[str, option("The report to write.", "--output", "-o", value="FILE")] = "calibrant-demo.html",
) -> None:
    """Run the whole job on a bundled data set: train, score, compare, and write a report."""
    check_target(output)
    tally, segments = _score_digits()
    sys.stdout.write(BEFORE)
    sys.stdout.flush()
    comparison = run_comparison(tally)
    show_comparison(comparison)
    best = None if comparison.recommended == "identity" else comparison.recommended
    write_page(output, tally, segments, comparison, method=best, title="Is the digit above four?")
    sys.stdout.write(AFTER.format(output=output))


def _score_digits() -> tuple[Tally, dict[str, Tally]]:
    """Score digits that the model has not seen; as segments, how much ink they have."""
    import numpy as np
    from sklearn.datasets import load_digits
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.model_selection import train_test_split

    from calibrant import Tally

    pixels, digit = load_digits(return_X_y=True)
    train, rest, y_train, y_rest = train_test_split(pixels, digit > 4, train_size=1 / 3, random_state=0)
    scores: Any = AdaBoostClassifier(random_state=0).fit(train, y_train).predict_proba(rest)[:, 1]
    heavy = rest.sum(axis=1) > np.median(rest.sum(axis=1))
    parts = {"thin strokes": ~heavy, "thick strokes": heavy}
    segments = {name: Tally.from_arrays(scores[where], y_rest[where]) for name, where in parts.items()}
    return Tally.from_arrays(scores, y_rest), segments
