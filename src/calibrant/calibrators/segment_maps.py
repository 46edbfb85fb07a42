"""The map of one segment as an ordinary calibration map, and the whole model as one file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from calibrant._files import write_atomically
from calibrant._kernels import links
from calibrant._typing import Floats, Ints
from calibrant.calibrators.segment_model import SegmentModel
from calibrant.errors import ModelFileError
from calibrant.map_functions import LogitLinear
from calibrant.maps import REPLAY_TOLERANCE, CalibrationMap, _checksum

__all__ = ["read_model", "segment_map", "write_model"]

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


def write_model(path: str | os.PathLike[str], model: SegmentModel, more: dict[str, Any]) -> None:
    """Write versioned JSON with a checksum and a test vector; the file appears whole or not at all."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "model": model.to_dict(),
        "test_vector": _test_vector(model),
    } | more
    write_atomically(path, json.dumps(content | {"checksum": _checksum(content)}, indent=None, allow_nan=False))


def read_model(path: str | os.PathLike[str]) -> tuple[SegmentModel, dict[str, Any]]:
    """Read a saved model, check that it still computes what it computed, and return it with the whole document."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ModelFileError(
            f"{path} is not a calibrant model, or it was cut short: it is not JSON ({error})."
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ModelFileError(f"{path} is JSON, but not a model of segments that calibrant saved.")
    version = document.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise ModelFileError(
            f"{path} has file version {version}; this calibrant reads up to {VERSION}. Install a newer calibrant."
        )
    if document.get("checksum") != _checksum({k: v for k, v in document.items() if k != "checksum"}):
        raise ModelFileError(f"{path} is damaged: its checksum does not match. Save the model again.")
    model, vector = SegmentModel.from_dict(document["model"]), document["test_vector"]
    now = model.logits(np.array(vector["scores"]), _as_codes(vector["codes"], len(model.keys.names)))
    off = float(np.abs(links.expit(now) - np.array(vector["probabilities"])).max())
    if not off <= REPLAY_TOLERANCE:
        raise ModelFileError(
            f"{path} gives other probabilities here than where it was saved (difference {off:.2g}). "
            "Do not use it; save the model again with this version."
        )
    return model, document


def _test_vector(model: SegmentModel) -> dict[str, Any]:
    scores = np.linspace(0.0, 1.0, MOST_TESTED)
    codes = np.column_stack([np.arange(MOST_TESTED) % (size + 1) - 1 for size in model.keys.sizes])
    probabilities = links.expit(model.logits(scores, codes))
    return {"scores": scores.tolist(), "codes": codes.tolist(), "probabilities": probabilities.tolist()}


def _as_codes(codes: Any, n_keys: int) -> Ints:
    return np.array(codes, dtype=np.intp).reshape(-1, n_keys)
