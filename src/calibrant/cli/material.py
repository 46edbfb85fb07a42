"""demo, methods, simulate: what there is to learn and to play with."""

from __future__ import annotations

import difflib
import inspect
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from calibrant.cli import options
from calibrant.cli.printing import note, print_json, print_table
from calibrant.cli.problems import Problem

if TYPE_CHECKING:
    from calibrant.tally import Tally

__all__ = ["demo", "methods", "simulate"]

OTHERS = ("bayes_iso", "circular", "separable", "xor")  # simulations beside the named truths


def methods(as_json: options.As_json = False) -> None:
    """List the calibration methods and what each can do."""
    from calibrant.calibrators import registry
    from calibrant.cli.fitting import default_method
    from calibrant.cli.stand_ins import load_scikit_learn

    load_scikit_learn()
    rows: list[dict[str, Any]] = []
    for name in registry.METHODS:
        cls = registry.get(name)
        decision = "space" in cls._get_param_names() or getattr(cls, "space", "") == "real"
        rows.append({
            "name": name,
            "default": name == default_method(),
            "class": cls.__name__,
            "summary": _first_line(cls),
            "scores": "any" if decision else "probabilities",
            "monotone": cls.monotone is True,
            "intervals": cls.bayesian,
            "reference": cls.reference,
        })  # fmt: skip
    if as_json:
        print_json(rows)
        return
    shown = [
        [
            row["name"] + (" (default)" if row["default"] else ""),
            row["scores"],
            "yes" if row["monotone"] else "no",
            "yes" if row["intervals"] else "no",
            row["summary"],
        ]
        for row in rows
    ]
    print_table("", ["method", "scores", "monotone", "intervals", "what it does"], shown, left=5)


def _first_line(documented: Any) -> str:
    """What something is, without the marks of documentation."""
    return (inspect.getdoc(documented) or "").partition("\n")[0].replace("``", "").replace("`", "")


def simulate(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to simulate; --list shows the names.")] = "D1",
    *,
    rows: Annotated[int, typer.Option("--rows", "-n", help="Number of rows.")] = 1000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random numbers.")] = 0,
    list_: Annotated[bool, typer.Option("--list", help="List what can be simulated.")] = False,
    output: options.Output = None,
    format_: options.Format = None,
) -> None:
    """Write scores and labels whose true probabilities are known: columns score, label, truth."""
    from calibrant import simulate as truths
    from calibrant.cli.tables import connected
    from calibrant.cli.writing import check_target, copied

    if list_:
        known = [[key, truth.formula] for key, truth in truths.TRUTHS.items()]
        texts = [[key, _first_line(getattr(truths, key))] for key in OTHERS]
        print_table("", ["name", "true logit, z = logit of the score; or what it is"], known + texts, left=2)
        return
    there = {key.lower(): key for key in (*truths.TRUTHS, *OTHERS)}
    if name not in there.values():
        near = difflib.get_close_matches(name.lower(), there, n=2)
        hint = f"Did you mean {' or '.join(there[key] for key in near)}?" if near else ""
        raise Problem(f"There is no simulation {name!r}. {hint or 'There are ' + ', '.join(there.values()) + '.'}")
    check_target(output)
    data = getattr(truths, name)(rows, rng=seed) if name in OTHERS else truths.from_truth(name, rows, rng=seed)
    with connected() as connection:
        import pyarrow as pa

        table = pa.table({"score": data.scores, "label": data.labels, "truth": data.probabilities})
        connection.register("simulated", table)
        copied(connection, "SELECT * FROM simulated", output, format_)
    if output not in (None, "-"):
        note(f"{rows} rows of {name} written to {output}.")


def demo(
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The report to write.")
    ] = "calibrant-demo.html",
) -> None:
    """The whole job on a data set that comes along: train, score, compare, and write a report."""
    from calibrant.cli.comparing import compared, show_comparison
    from calibrant.cli.judging import write_page
    from calibrant.cli.writing import check_target

    check_target(output)
    tally, segments = _digits()
    sys.stdout.write(
        "AdaBoost, trained on a third of scikit-learn's handwritten digits, says how likely each of the others is\n"
        "above four. Are its probabilities to be believed, and if not, which calibration mends them?\n\n"
    )
    sys.stdout.flush()
    found = compared(tally)
    show_comparison(found)
    best = None if found.recommended == "identity" else found.recommended
    write_page(output, tally, segments, found, method=best, title="Is the digit above four?")
    sys.stdout.write(
        f"\nThe report is in {output}; open it in a browser. With data of your own, in columns score and label:\n\n"
        "  calibrant compare data.csv                     # which method?\n"
        "  calibrant report data.csv -o report.html       # the same page\n"
        "  calibrant fit data.csv -o model.json           # learn the map\n"
        "  calibrant apply model.json new.csv -o out.csv  # use it\n"
    )


def _digits() -> tuple[Tally, dict[str, Tally]]:
    """Scores of digits that the model has not seen; as segments, how much ink they have."""
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
