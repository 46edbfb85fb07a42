"""A map of several classes as a torch module, to put behind a network; torch is imported only here."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant._typing import Floats
from calibrant.export import matrix_parity
from calibrant.export.matrix_form import MatrixForm
from calibrant.maps.matrix import MatrixMap

__all__ = ["to_torch"]

ARRAYS = ("weights", "slope", "bias", "curves", "vector", "gate", "matrix", "confusion")


def to_torch(map_: MatrixMap) -> Any:
    """A ``torch.nn.Module`` from scores (n, K), of the map's space, to probabilities (n, K).

    Inside, numbers are doubles; the result has the floating type of the input. The coefficients are buffers: they move
    with ``.to(device)``, are part of ``state_dict()`` and are not trained; gradients flow through to the scores. Rows
    are not checked. The module is compared with the map before it is returned.

    Parameters
    ----------
    map_ : MatrixMap
        The map of a fitted calibrator of several classes, ``calibrator.map_``.

    Returns
    -------
    torch.nn.Module

    Examples
    --------
    >>> import pytest
    >>> torch = pytest.importorskip("torch")
    >>> from calibrant.multiclass.vector_scaling import VectorScaling
    >>> from calibrant.export.matrix_torch import to_torch
    >>> logits, y = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.3]] * 4, [0, 1, 1] * 4
    >>> calibrate = to_torch(VectorScaling(space="logits").fit(logits, y).map_)
    >>> calibrate(torch.tensor(logits)).shape
    torch.Size([12, 3])
    """
    torch = require("torch", "torch", "calibrant.export.to_torch")
    module = _module(torch, MatrixForm.from_map(map_))
    matrix_parity.check(map_, lambda scores: _run(torch, module, scores), "torch")
    return module


def _module(torch: Any, form: MatrixForm) -> Any:
    class CalibrationMap(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        """Class scores to calibrated probabilities."""

        def __init__(self) -> None:
            super().__init__()
            arrays = {name: getattr(form, name) for name in ARRAYS}
            arrays |= {"starts": form.ramps.starts, "widths": form.ramps.widths}
            arrays |= {"gate_starts": form.gate_ramps.starts, "gate_widths": form.gate_ramps.widths}
            for name, values in arrays.items():
                self.register_buffer(name, torch.tensor(values, dtype=torch.float64))

        def _apply(self, fn: Any, recurse: bool = True) -> Any:
            """Move the buffers, but keep them double when the network around is halved."""
            kept = dict(self.named_buffers())
            out = super()._apply(fn, recurse)
            for name, buffer in self.named_buffers():
                if buffer.dtype != torch.float64:
                    self.register_buffer(name, kept[name].to(buffer.device))
            return out

        def forward(self, scores: Any) -> Any:
            """Probabilities of all classes, (n, K)."""
            x = scores.to(torch.float64)
            if form.space == "probability":
                x = torch.log(torch.clamp(x, min=form.floor))
            ell = torch.log_softmax(form.inverse_temperature * x, dim=1)
            members = torch.softmax(self.logits(ell), dim=2)
            out = torch.einsum("m,nmk->nk", self.weights, members)
            return out.to(scores.dtype) if scores.is_floating_point() else out

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

    return CalibrationMap()


def _run(torch: Any, module: Any, scores: Floats) -> Floats:
    with torch.no_grad():
        return np.asarray(module(torch.tensor(scores, dtype=torch.float64)).numpy())
