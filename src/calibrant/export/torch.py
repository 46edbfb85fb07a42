"""A map as a torch module, to put behind a network; torch is imported only here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.export import parity
from calibrant.export.expression_graph import Number, Operation, Pick, Search, domain, lower, walk
from calibrant.export.pool_form import PoolForm
from calibrant.maps.base import FrozenMap
from calibrant.maps.matrix import MatrixMap
from calibrant.maps.score import CalibrationMap

__all__ = ["to_torch"]

FUNCTIONS = {"min": "minimum", "max": "maximum"}  # the other operations have the names of the graph
ARRAYS = ("weights", "slope", "bias", "curves", "vector", "gate", "matrix", "confusion")


def to_torch(map_: FrozenMap) -> Any:
    """A ``torch.nn.Module`` from scores, of the map's space, to probabilities.

    Inside, numbers are doubles; the result has the floating type of the input. The numbers of the map are buffers: they
    move with ``.to(device)``, are part of ``state_dict()`` and are not trained; gradients flow through to the scores.
    The module is compared with the map before it is returned.

    Parameters
    ----------
    map_ : CalibrationMap or MatrixMap
        The map of a fitted calibrator, ``calibrator.map_``.

    Returns
    -------
    torch.nn.Module
        For one score: from scores of any shape to the probabilities of the positive class in that shape, NaN for scores
        that the map does not accept. For several classes: from (n, K) to (n, K); rows are not checked.

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from calibrant import PlattScaling
    >>> from calibrant.export import to_torch
    >>> calibrate = to_torch(PlattScaling().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1]).map_)
    >>> calibrate(torch.tensor([[0.2], [0.5], [0.7]])).shape
    torch.Size([3, 1])
    """
    shape = parity.check_shape(map_, "to_torch")
    torch = require("torch", "torch", "calibrant.export.to_torch")
    module = MODULES[shape](torch, map_)
    parity.check(map_, lambda scores: _run(torch, module, scores), "torch")
    return module


def _module_base(torch: Any) -> Any:
    class CalibrationModule(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        """Scores to calibrated probabilities; its numbers are buffers of doubles."""

        def __init__(self, arrays: dict[str, Floats]) -> None:
            super().__init__()
            for name, values in arrays.items():
                self.register_buffer(name, torch.tensor(values, dtype=torch.float64))

        def _apply(self, fn: Any, recurse: bool = True) -> Any:
            """Move the buffers, but keep them double when the network around is halved."""
            doubles = dict(self.named_buffers())
            out = super()._apply(fn, recurse)
            for name, buffer in self.named_buffers():
                if buffer.dtype != torch.float64:
                    self.register_buffer(name, doubles[name].to(buffer.device))
            return out

        def forward(self, scores: Any) -> Any:
            """Probabilities in the floating type of the scores."""
            out = self.probabilities(scores.to(torch.float64))
            return out.to(scores.dtype) if scores.is_floating_point() else out

    return CalibrationModule


def _score_module(torch: Any, map_: CalibrationMap) -> Any:
    nodes = list(walk(lower(map_.function)))
    place = {id(node): i for i, node in enumerate(nodes)}
    low, high = domain(map_.space)
    arrays = {f"edges_{i}": node.edges for i, node in enumerate(nodes) if isinstance(node, Search)}
    arrays |= {f"table_{i}": node.table for i, node in enumerate(nodes) if isinstance(node, Pick)}
    arrays |= {f"number_{i}": np.array(node.value) for i, node in enumerate(nodes) if isinstance(node, Number)}

    class ScoreCalibration(_module_base(torch)):  # type: ignore[misc]
        """Scores to calibrated probabilities of the positive class."""

        def probabilities(self, scores: Any) -> Any:
            """The values of all nodes of the map's graph in turn, of which the last is the probability."""
            values: list[Any] = []
            for i, node in enumerate(nodes):
                parents = [values[place[id(parent)]] for parent in node.parents()]
                if isinstance(node, Number):
                    value = getattr(self, f"number_{i}")
                elif isinstance(node, Operation):
                    value = getattr(torch, FUNCTIONS.get(node.kind, node.kind))(*parents)
                elif isinstance(node, Search):
                    value = torch.searchsorted(getattr(self, f"edges_{i}"), parents[0].contiguous())
                elif isinstance(node, Pick):
                    value = getattr(self, f"table_{i}")[parents[0]]
                else:
                    value = scores
                values.append(value)
            accepted = (scores >= low) & (scores <= high)
            return torch.where(accepted, values[-1], torch.nan)

    return ScoreCalibration(arrays)


def _matrix_module(torch: Any, map_: MatrixMap) -> Any:
    form = PoolForm.from_map(map_)
    arrays = {name: getattr(form, name) for name in ARRAYS}
    arrays |= {"starts": form.ramps.starts, "widths": form.ramps.widths}
    arrays |= {"gate_starts": form.gate_ramps.starts, "gate_widths": form.gate_ramps.widths}

    class MatrixCalibration(_module_base(torch)):  # type: ignore[misc]
        """Class scores to calibrated probabilities."""

        def probabilities(self, scores: Any) -> Any:
            """Probabilities of all classes, (n, K)."""
            x = torch.log(torch.clamp(scores, min=form.floor)) if form.space == "probability" else scores
            ell = torch.log_softmax(form.inverse_temperature * x, dim=1)
            return torch.einsum("m,nmk->nk", self.weights, torch.softmax(self.logits(ell), dim=2))

        def logits(self, ell: Any) -> Any:
            """The logits of all members, (n, M, K)."""
            u = torch.clamp(ell, form.low, form.high)[:, None, :]
            z = self.slope[:, None] * ell[:, None, :] + self.bias + self.vector * u
            if form.curves.size:
                ramps = torch.clamp((ell[..., None] - self.starts) / self.widths, 0.0, 1.0)
                z = z + torch.einsum("nkj,mkj->nmk", ramps, self.curves)
            if form.gate.size:
                best = torch.clamp(ell.max(dim=1).values, max=0.0)
                sure = best - torch.log(torch.clamp(-torch.expm1(best), min=1e-15))
                ramps = torch.clamp((sure[:, None] - self.gate_starts) / self.gate_widths, 0.0, 1.0)
                z = z + (ramps @ self.gate.T)[:, :, None] * u
            if form.matrix.size:
                z = z + torch.einsum("ni,mki->nmk", u[:, 0, :], self.matrix)
            if form.confusion.size:
                z = z + torch.einsum("ni,mki->nmk", torch.exp(ell), self.confusion)
            return z

    return MatrixCalibration(arrays)


MODULES: dict[str, Callable[..., Any]] = {"score": _score_module, "matrix": _matrix_module}


def _run(torch: Any, module: Any, scores: Floats) -> Floats:
    with torch.no_grad():
        return np.asarray(module(torch.tensor(scores, dtype=torch.float64)).numpy())
