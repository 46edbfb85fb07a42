"""The map of one segment as an ordinary calibration map, and the whole model as one file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._files import AnyPath
from calibrant._kernels import links
from calibrant._model_files import read_model, restore, write_model
from calibrant._typing import Floats, Ints
from calibrant.calibrators.segment_model import SegmentModel
from calibrant.map_functions import LogitLinear
from calibrant.maps import REPLAY_TOLERANCE, CalibrationMap

__all__ = ["load_segments", "save_segments", "segment_map"]

FORMAT = "calibrant-segments"
VERSION = 1
ON_LOGITS = 1e-4  # largest difference of a map's nodes to the model
EXTREME = float(links.logit(np.array(1.0)))
GRID = np.concatenate(
    (np.linspace(-EXTREME, -8.0, 200)[:-1], np.linspace(-8.0, 8.0, 801), np.linspace(8.0, EXTREME, 200)[1:])
)
MOST_TESTED = 64


def segment_map(model: SegmentModel, codes: Ints, method: str) -> CalibrationMap:
    """The map of one combination of segments: straight pieces on the logit scale.

    Between nodes the model bends a little; the distance there is of the order of 1e-4.
    """
    from calibrant._kernels import polyline

    z = _nodes(model)
    y = model.logits(links.expit(z), np.repeat(codes[None], len(z), axis=0))
    kept = polyline.simplify(z, y, np.full(len(z), ON_LOGITS))
    table = LogitLinear(z[kept], y[kept], 0.0, 0.0)
    return CalibrationMap(table, "probability", bool((np.diff(table.y) >= 0.0).all()), method)


def _nodes(model: SegmentModel) -> Floats:
    function = model.pooled.function
    own = function.x if isinstance(function, LogitLinear) else links.logit(function.knots())
    z = np.unique(np.concatenate((GRID, own, links.logit(model.basis.scores))))
    return z[(z >= -EXTREME) & (z <= EXTREME)]


def save_segments(path: AnyPath, model: SegmentModel, more: dict[str, Any]) -> None:
    """Write versioned JSON with a checksum and a test vector; the file appears whole or not at all."""
    write_model(path, FORMAT, VERSION, {"map": model.to_dict(), "test_vector": _test_vector(model)} | more)


def load_segments(path: AnyPath) -> tuple[SegmentModel, dict[str, Any]]:
    """Read a saved model, check that it still computes what it computed, and return it with the whole document."""
    document = read_model(path, {FORMAT: VERSION})
    restored: list[SegmentModel] = []

    def make(data: Any) -> Callable[[Any], Floats]:
        restored.append(SegmentModel.from_dict(data))
        codes = _as_codes(document["test_vector"]["codes"], len(restored[0].keys.names))
        return lambda scores: links.expit(restored[0].logits(np.array(scores), codes))

    restore(make, document, path, REPLAY_TOLERANCE)
    return restored[0], document


def _test_vector(model: SegmentModel) -> dict[str, Any]:
    scores = np.linspace(0.0, 1.0, MOST_TESTED)
    codes = np.column_stack([np.arange(MOST_TESTED) % (size + 1) - 1 for size in model.keys.sizes])
    probabilities = links.expit(model.logits(scores, codes))
    return {"scores": scores.tolist(), "codes": codes.tolist(), "probabilities": probabilities.tolist()}


def _as_codes(codes: Any, n_keys: int) -> Ints:
    return np.array(codes, dtype=np.intp).reshape(-1, n_keys)
