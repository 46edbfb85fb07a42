"""An export of several classes is run where it was written and compared with the map; one that differs is refused."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from calibrant._numerics.softmax import softmax
from calibrant._typing import Floats
from calibrant.errors import ModelFileError
from calibrant.maps.matrix import MatrixMap

__all__ = ["TOLERANCE", "check", "probe", "vector", "vector_text"]

TOLERANCE = 1e-12
RANDOM_ROWS = 12  # at each scale
MOST_SURE = 20  # classes with a row that is sure of them


def probe(map_: MatrixMap) -> Floats:
    """Rows that find a wrong export: undecided, sure (of probabilities with exact zeros), and random at all scales."""
    n_classes = len(map_.classes)
    sure = np.eye(n_classes)[:MOST_SURE]
    rng = np.random.default_rng(0)
    logits = np.concatenate([scale * rng.normal(size=(RANDOM_ROWS, n_classes)) for scale in (0.0, 0.3, 1.0, 3.0, 10.0)])
    if map_.space == "logits":
        return np.concatenate((logits, 500.0 * sure))
    return np.concatenate((softmax(logits), sure, softmax(np.concatenate((10.0 * sure, 33.0 * sure)))))


def vector(map_: MatrixMap) -> tuple[list[list[float]], list[list[float]]]:
    """The few rows and their probabilities that an export carries, so that its user can check it too."""
    logits = np.outer([0.0, 1.0, 3.0, 9.0], np.cos(np.arange(len(map_.classes))))
    scores = logits if map_.space == "logits" else softmax(logits)
    return scores.tolist(), map_(scores).tolist()


def vector_text(map_: MatrixMap) -> str:
    """The test vector as one line of JSON."""
    scores, probabilities = vector(map_)
    return json.dumps({"scores": scores, "probabilities": probabilities})


def check(
    map_: MatrixMap,
    run: Callable[[Floats], Floats],
    target: str,
    tolerance: float = TOLERANCE,
    scores: Floats | None = None,
) -> None:
    """Refuse an export that, when run, differs from the map anywhere on the probe by more than `tolerance`."""
    scores = probe(map_) if scores is None else scores
    expected, got = map_(scores), np.asarray(run(scores), dtype=np.float64)
    if got.shape != expected.shape:
        raise ModelFileError(f"The export to {target} was refused: it gives shape {got.shape}, not {expected.shape}.")
    off = np.abs(expected - got)
    if not (off <= tolerance).all():
        row, column = np.unravel_index(int(np.argmax(np.where(np.isnan(off), np.inf, off))), off.shape)
        raise ModelFileError(
            f"The export to {target} was refused: for the row {scores[row].tolist()} it gives "
            f"{float(got[row, column])!r} to class {map_.classes[column]!r} where the map gives "
            f"{float(expected[row, column])!r}, more than {tolerance:g} apart. Nothing was written; please report this."
        )
