"""How much hand-set priors matter: each halved and doubled, and what that does to log-loss on rows not seen.

    python -m benchmarks.accuracy.priors blend --data FOLDER
    python -m benchmarks.accuracy.priors classes --data FOLDER
    python -m benchmarks.accuracy.priors segments [--data FOLDER]

FOLDER holds tables of the two-class arena, of the several-class arena, or with segments. Figures are log-loss less that
of the prior as it is, × 1000, with a standard error clustered by source. Of several classes one table of each source is
taken.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd

from benchmarks.accuracy import segment_tasks
from benchmarks.arena import multiclass, sources
from benchmarks.arena.summary import clustered_mean, source
from calibrant import Blend, SegmentedCalibrator, metrics
from calibrant.calibrators import bayes_temperature, blend, spline_posterior
from calibrant.multiclass import posterior
from calibrant.segments import terms

Losses = dict[tuple[str, int], float]  # of each table and number of rows


@contextmanager
def multiplied(module: Any, name: str, factor: float) -> Iterator[None]:
    """A constant of a module, a tuple of them or what a function gives, times the factor."""
    old = getattr(module, name)
    if callable(old):
        new: Any = lambda *arguments: factor * old(*arguments)  # noqa: E731
    elif isinstance(old, dict):
        new = {key: replace(settings, scales=factor * settings.scales) for key, settings in old.items()}
    else:
        new = tuple(factor * value for value in old) if isinstance(old, tuple) else factor * old
    with mock.patch.object(module, name, new):
        yield


PRIORS: dict[str, dict[str, tuple[Any, str]]] = {
    "blend": {
        "rows behind each member's weight": (blend, "_prior_rows"),
        "median roughness of the spline": (spline_posterior, "ROUGH_TYPICAL"),
        "median scale of its straight part": (spline_posterior, "LINE_TYPICAL"),
        "scale of the temperature": (bayes_temperature, "SLOPE_SCALE"),
        "probability of a score that says nothing": (bayes_temperature, "ONLY_LAPSES"),
    },
    "classes": {
        "power of the expected fit": (posterior, "EXPECTED_FIT_POWER"),
        "discount of each richer model": (posterior, "PRIOR_OF_NEXT_MODEL"),
    },
    "segments": {"scales by which segments may differ": (terms, "SETTINGS")},
}


def blend_losses(folder: Path) -> Losses:
    """Log-loss of Blend on each table of the two-class arena."""
    losses = {}
    for task in sources.folder(folder):
        draw = task.open()
        for n in (100, 1000):
            try:
                split = draw(n, 0)
            except ValueError:  # the table is too small for that
                continue
            found = Blend().fit(split.scores, split.labels).predict(split.test_scores)
            losses[task.name, n] = metrics.log_loss(split.expected, found)
    return losses


def class_losses(folder: Path) -> Losses:
    """Log-loss of Blend on one matrix of each source."""
    index = pd.read_csv(folder / "INDEX.csv")
    names = index.groupby(index["task"].map(source))["task"].first()
    losses = {}
    for table in multiclass.tables(folder, list(names)):
        for n, _, split in table.splits([200, 1000], [0]):
            found = Blend().fit(split.scores, split.labels).predict_proba(split.test_scores)
            losses[table.task, n] = multiclass.measure(found, split.test_labels)["log_loss"]
    return losses


def segment_losses(folder: Path | None) -> Losses:
    """Log-loss of partial pooling on each table with segments."""
    options = argparse.Namespace(folder=folder, tables=[], single=False, sizes=[500, 2000], first_repeat=0, repeats=1)
    losses = {}
    for task in segment_tasks.tasks(options):
        fitted = SegmentedCalibrator().fit(task.train["score"], task.train["label"], segment=task.train[task.keys])
        found = fitted.predict(task.test["score"], segment=task.test[task.keys])
        losses[task.table, task.rows] = metrics.log_loss(task.test["label"], found)
    return losses


MEASURES: dict[str, Callable[[Path], Losses]] = {
    "blend": blend_losses,
    "classes": class_losses,
    "segments": segment_losses,  # type: ignore[dict-item]
}


def main() -> None:
    """Print one line for each prior and factor."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("method", choices=list(PRIORS))
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    measure = MEASURES[arguments.method]
    usual = pd.Series(measure(arguments.data))
    print(f"{'prior':<40}{'factor':>8}" + "".join(f"{n:>18} rows" for n in sorted(usual.index.unique(1))))
    for name, (module, constant) in PRIORS[arguments.method].items():
        for factor in (0.5, 2.0):
            with multiplied(module, constant, factor):
                gaps = 1000.0 * (pd.Series(measure(arguments.data)) - usual)
            line = f"{name:<40}{factor:>8}"
            for _, part in gaps.groupby(level=1):
                mean, error = clustered_mean(part.to_numpy(), [source(task) for task in part.index.get_level_values(0)])
                line += f"{f'{mean:+.3f} ± {error:.3f}':>23}"
            print(line, flush=True)


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
