"""simulate: scores and labels whose true probabilities are known."""

from __future__ import annotations

import difflib
from typing import Annotated

import typer

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.methods import first_line
from calibrant.cli.printing import check_target, is_stdout, note, print_table, written

__all__ = ["simulate"]

OTHERS = ("bayes_iso", "circular", "separable", "xor")  # simulations beside the named truths


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
        others = [[key, first_line(getattr(truths, key))] for key in OTHERS]
        print_table("", ["name", "true logit, z = logit of the score; or what it is"], known + others, left=2)
        return
    names = {key.lower(): key for key in (*truths.TRUTHS, *OTHERS)}
    if name not in names.values():
        near = difflib.get_close_matches(name.lower(), names, n=2)
        hint = f"Did you mean {' or '.join(names[key] for key in near)}?" if near else ""
        raise Problem(f"There is no simulation {name!r}. {hint or 'There are ' + ', '.join(names.values()) + '.'}")
    check_target(output)
    data = getattr(truths, name)(rows, rng=seed) if name in OTHERS else truths.from_truth(name, rows, rng=seed)
    _write({"score": data.scores, "label": data.labels, "truth": data.probabilities}, output, format_)
    if not is_stdout(output):
        note(f"{rows} rows of {name} written to {output}.")


def _write(columns: dict[str, object], output: str | None, given: str | None) -> None:
    from calibrant._optional import require
    from calibrant.cli.apply import output_kind
    from calibrant.engines.table_writers import open_writer

    kind = output_kind(output, given)
    table = require("pyarrow", "tables", "Writing tables").table(columns)
    with written(output) as path, open_writer(kind, path, table.schema, output or "") as write:
        for batch in table.to_batches():
            write(batch)
