"""simulate: data whose true probabilities are known."""

from typing import Annotated

import typer

from calibrant.cli import options
from calibrant.cli.errors import Refusal
from calibrant.cli.models import output_kind
from calibrant.cli.printing import check_target, is_stdout, note, print_table, written
from calibrant.engines.table_files import suggest

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
    from calibrant._optional import require
    from calibrant.engines.table_batches import write_batches

    if list_:
        known = [[key, truth.formula] for key, truth in truths.TRUTHS.items()]
        others = [[key, getattr(truths, key).__doc__.partition("\n")[0]] for key in OTHERS]
        print_table("", ["name", "true logit, z = logit of the score; or what it is"], known + others, left=2)
        return
    names = [*truths.TRUTHS, *OTHERS]
    if name not in names:
        all_ = f"There are {', '.join(names)}."
        raise Refusal(f"There is no simulation {name!r}. {suggest(name, names, all_)}")
    check_target(output)
    kind = output_kind(output, format_)
    data = getattr(truths, name)(rows, rng=seed) if name in OTHERS else truths.from_truth(name, rows, rng=seed)
    columns = {"score": data.scores, "label": data.labels, "truth": data.probabilities}
    table = require("pyarrow", "tables", "Writing tables").table(columns)
    with written(output) as path:
        write_batches(kind, path, table.schema, table.to_batches(), output=output or "")
    if not is_stdout(output):
        note(f"{rows} rows of {name} written to {output}.")
