"""Models of segments on the command line: fitted with --by, applied by the names of their columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from calibrant.cli.errors import Problem
from calibrant.cli.printing import is_stdout, note, progress, warn, written

if TYPE_CHECKING:
    from calibrant.calibrators.base import Calibrator
    from calibrant.cli.columns import Columns
    from calibrant.engines.file_apply import Applied
    from calibrant.engines.tables import Table
    from calibrant.maps.segments import SegmentedMap
    from calibrant.tally import Tally


def fit_segments(
    table: Table, columns: Columns, pooled: Calibrator, *, positive: str | None, missing: str, output: str | None
) -> dict[str, Any]:
    """Fit one map for all segments, save it, and say which segments differ."""
    from calibrant import SegmentedCalibrator, Tally
    from calibrant.cli.tallies import count_segments, is_decision, warn_of_few

    tallies = count_segments(table, columns, positive)
    if missing == "error":
        _check_missing(tallies, columns.by)
    whole = sum(tallies.values(), Tally.empty())
    warn_of_few(whole)
    space = "decision" if is_decision(whole) else "probability"
    calibrator = SegmentedCalibrator(pooled, missing=missing, space=space)
    with progress(f"fitting {len(tallies)} segments"):
        calibrator.fit_tallies(tallies, columns.by)
    with written(output) as path:
        calibrator.save(path)
    losses = measure_losses(calibrator.map_, tallies)
    _say(calibrator, whole, losses, output)
    return {
        "method": type(calibrator).__name__,
        "pooled_method": type(pooled).__name__,
        "rows": whole.total,
        "base_rate": whole.base_rate,
        "keys": list(columns.by),
        "log_loss_before": losses.get("before"),
        "log_loss_pooled": losses["pooled"],
        "log_loss_after": losses["after"],
        "differences": calibrator.segments_.differences,
        "segments": calibrator.segments_.to_records(),
        "output": output,
    }


def _check_missing(tallies: Mapping[tuple[Any, ...], Tally], by: Sequence[str]) -> None:
    from calibrant.tally import row_count

    for k, name in enumerate(by):
        rows = sum(tally.total for segment, tally in tallies.items() if segment[k] is None)
        if rows:
            raise Problem(
                f"--by '{name}' must have no missing values; {row_count(rows)} rows have none. Fill them, or make them "
                "a segment of their own with --missing segment."
            )


def measure_losses(map_: SegmentedMap, tallies: Mapping[tuple[Any, ...], Tally]) -> dict[str, float]:
    """Measure the log-loss of the scores (if they are probabilities), of the pooled map, and of all maps."""
    import numpy as np

    from calibrant import Tally, metrics
    from calibrant._numerics import grouping
    from calibrant.maps.keys import name_columns

    sizes = [len(tally) for tally in tallies.values()]
    segment = {key: np.repeat(x, sizes) for key, x in name_columns(list(tallies), map_.keys.names).items()}
    scores, positives, totals = (
        np.concatenate([getattr(tally, name) for tally in tallies.values()])
        for name in ("scores", "positives", "totals")
    )
    first = scores if map_.first is None else map_.first(scores)
    predictions = {"pooled": map_.pooled(first), "after": map_(scores, segment)}
    if map_.first is None:
        predictions = {"before": scores} | predictions
    return {
        name: metrics.log_loss(Tally(*grouping.group_sums(p, positives, totals))) for name, p in predictions.items()
    }


def _say(calibrator: Any, whole: Tally, losses: dict[str, float], output: str | None) -> None:
    from calibrant.tally import row_count

    before = f", before {losses['before']:.4f}" if "before" in losses else ""
    rows = f"{row_count(whole.total)} rows, {100 * whole.base_rate:.3g} % positive"
    where = "" if is_stdout(output) else f" Saved to {output}."
    note(
        f"{type(calibrator).__name__} fitted to {rows}: log-loss {losses['after']:.4f}, with one map for all "
        f"{losses['pooled']:.4f}{before} (on these rows).{where}"
    )
    note(calibrator.segments_.summary())


def segment_options(map_: SegmentedMap | None, table: Table, by: Sequence[str], missing: str | None) -> dict[str, Any]:
    """Choose the columns of a map's segments; options for segments are refused where the model has none."""
    from calibrant.cli.columns import choose_keys

    if map_ is None:
        if by or missing:
            raise Problem("--by and --missing are for a model of segments; fit one with `calibrant fit --by`.")
        return {}
    return {"by": choose_keys(table, by, map_.keys.names), "missing": missing}


def report_unseen(done: Applied, map_: SegmentedMap | None) -> None:
    """Say how many rows had to do without a map of their own."""
    if map_ is None or not done.unseen_rows:
        return
    one = done.unseen_segments == 1
    segments = "a segment" if one else f"one of {done.unseen_segments} segments"
    instead = "the pooled map is used" if len(map_.keys.names) == 1 else "only their other keys count"
    warn(f"{done.unseen_rows} rows have {segments} that the fit did not see; for these rows {instead}.")
