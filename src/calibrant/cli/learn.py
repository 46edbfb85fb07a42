"""demo, methods, simulate: what to learn from."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.apply import output_kind
from calibrant.cli.compare import run_comparison, show_comparison
from calibrant.cli.errors import Problem
from calibrant.cli.printing import check_target, is_stdout, note, print_json, print_table, written
from calibrant.cli.report import write_page
from calibrant.engines.table_files import suggest

if TYPE_CHECKING:
    from calibrant.tally import Tally

OTHERS = ("bayes_iso", "circular", "separable", "xor")  # simulations beside the named truths
ABILITIES, NO_YES = ("monotone", "intervals", "several classes"), ("no", "yes")
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
    output: Annotated[
        str, options.option("The report to write.", "--output", "-o", value="FILE")
    ] = "calibrant-demo.html",
) -> None:
    """Run the whole job on a bundled data set: train, score, compare, and write a report."""
    check_target(output)
    tally = _score_digits()
    sys.stdout.write(BEFORE)
    sys.stdout.flush()
    comparison = run_comparison(tally)
    show_comparison(comparison)
    best = None if comparison.recommended == "identity" else comparison.recommended
    write_page(output, tally, comparison=comparison, method=best, title="Is the digit above four?")
    sys.stdout.write(AFTER.format(output=output))


def _score_digits() -> Tally:
    """Score digits that the model has not seen."""
    from sklearn.datasets import load_digits
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.model_selection import train_test_split

    from calibrant import Tally

    pixels, digit = load_digits(return_X_y=True)
    train, rest, y_train, y_rest = train_test_split(pixels, digit > 4, train_size=1 / 3, random_state=0)
    scores: Any = AdaBoostClassifier(random_state=0).fit(train, y_train).predict_proba(rest)[:, 1]
    return Tally.from_arrays(scores, y_rest)


def methods(as_json: options.As_json = False) -> None:
    """List the calibration methods and what each can do."""
    rows = [_describe(name) for name in options.method_names()]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        row["name"] += " (default)" * row["default"]
    texts = [[row["name"], row["scores"], *(NO_YES[row[key]] for key in ABILITIES), row["summary"]] for row in rows]
    print_table("", ["method", "scores", *ABILITIES, "what it does"], texts, left=6)


def _describe(name: str) -> dict[str, Any]:
    from calibrant.calibrators import registry

    several = options.method_names(several=True)
    cls: Any = registry.get(name, "score" if name in registry.names() else "matrix")
    decision = "space" in cls._get_param_names() or getattr(cls, "space", "") == "decision"
    return {
        "name": name,
        "default": name == registry.DEFAULT_METHOD,
        "class": cls.__name__,
        "summary": cls.description,
        "scores": "any" if decision else "probabilities",
        "monotone": getattr(cls, "monotone", False) is True,
        "intervals": cls.bayesian,
        "several classes": name in several,
        "reference": cls.reference,
    }


def simulate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to simulate; --list shows the names.")] = "D1",
    *,
    rows: Annotated[int, options.option("Number of rows.", "--rows", "-n", value="ROWS")] = 1000,
    seed: options.Seed = 0,
    list_: Annotated[bool, options.option("List what can be simulated.", "--list")] = False,
    output: options.Output = None,
    format_: options.Format = None,
) -> None:
    """Write scores and labels whose true probabilities are known: columns score, label, truth."""
    from calibrant import simulate as truths

    if list_:
        known = [[key, truth.formula] for key, truth in truths.TRUTHS.items()]
        others = [[key, getattr(truths, key).__doc__.partition("\n")[0]] for key in OTHERS]
        print_table("", ["name", "true logit, z = logit of the score; or what it is"], known + others, left=2)
        return
    names = [*truths.TRUTHS, *OTHERS]
    if name not in names:
        all_ = f"There are {', '.join(names)}."
        raise Problem(f"There is no simulation {name!r}. {suggest(name, names, all_)}")
    check_target(output)
    data = getattr(truths, name)(rows, rng=seed) if name in OTHERS else truths.from_truth(name, rows, rng=seed)
    _write({"score": data.scores, "label": data.labels, "truth": data.probabilities}, output, format_)
    if not is_stdout(output):
        note(f"{rows} rows of {name} written to {output}.")


def _write(columns: dict[str, object], output: str | None, given: str | None) -> None:
    from calibrant._optional import require
    from calibrant.engines.table_batches import write_batches

    kind = output_kind(output, given)
    table = require("pyarrow", "tables", "Writing tables").table(columns)
    with written(output) as path:
        write_batches(kind, path, table.schema, table.to_batches(), output=output or "")
