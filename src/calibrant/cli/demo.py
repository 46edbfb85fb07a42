"""demo, simulate: the whole job on a bundled data set, and data whose true probabilities are known."""

import sys
from typing import Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.columns import Columns
from calibrant.cli.compare import Page, run_comparison, show_comparison, write_page
from calibrant.cli.errors import Refusal
from calibrant.cli.models import output_kind
from calibrant.cli.printing import check_target, is_stdout, note, written
from calibrant.cli.problems import Problem
from calibrant.engines.tables import suggest

NAME = "What to simulate, such as wave; any other word shows the names."
OTHERS = ("bayes_iso", "circular", "separable", "xor")  # simulations beside the named truths

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


def simulate(
    name: Annotated[str, typer.Argument(metavar="NAME", help=NAME)] = "D1",
    *,
    rows: Annotated[int, options.option("Number of rows.", "--rows", "-n", value="ROWS")] = 1000,
    seed: options.Seed = 0,
    output: options.Output = None,
) -> None:
    """Write scores and labels whose true probabilities are known: columns score, label, truth."""
    from calibrant import simulate as truths
    from calibrant._optional import require
    from calibrant.engines.table_batches import write_batches

    names = [*truths.TRUTHS, *OTHERS]
    if name not in names:
        near = suggest(name, names, f"There are {', '.join(names)}.")
        raise Refusal(f"There is no simulation {name!r}. {near}")
    check_target(output)
    kind = output_kind(output, None)
    data = getattr(truths, name)(rows, rng=seed) if name in OTHERS else truths.from_truth(name, rows, rng=seed)
    columns = {"score": data.scores, "label": data.labels, "truth": data.probabilities}
    table = require("pyarrow", "tables", "Writing tables").table(columns)
    with written(output) as path:
        write_batches(kind, path, table.schema, table.to_batches(), output=output or "")
    if not is_stdout(output):
        note(f"{rows} rows of the simulation {name} written to {output}.")


def demo(output: Page = "calibrant-demo.html") -> None:
    """Run the whole job on a bundled data set: train, score, compare, and write a report."""
    check_target(output)
    problem = _score_digits()
    sys.stdout.write(BEFORE)
    sys.stdout.flush()
    comparison = run_comparison(problem)
    show_comparison(comparison)
    write_page(output, problem, comparison=comparison, title="Is the digit above four?")
    sys.stdout.write(AFTER.format(output=output))


def _score_digits() -> Problem:
    """Score digits that the model has not seen."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.model_selection import train_test_split

    from calibrant import Tally

    pixels, digit = load_digits(return_X_y=True)
    train, rest, y_train, y_rest = train_test_split(pixels, digit > 4, train_size=1 / 3, random_state=0)
    scores: Any = AdaBoostClassifier(random_state=0).fit(train, y_train).predict_proba(rest)[:, 1]
    return Problem("score", Columns(("score",), "label"), Tally.from_arrays(scores, y_rest))
