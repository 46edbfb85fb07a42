"""A map as a torch module, to put behind a network; torch is imported only here."""

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._optional import require
from calibrant.export import parity
from calibrant.export.expression_graph import Array, Node, Number, Operation, Pick, Search, fold, walk
from calibrant.export.panel_graph import graph_of
from calibrant.maps.base import FrozenMap, domain
from calibrant.maps.matrix import MatrixMap

CONSTANTS = ("value", "edges", "table")  # the fields of nodes that hold numbers


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
    parity.check_shape(map_, "to_torch")
    torch = require("torch", "torch", "calibrant.export.to_torch")
    module = _module(torch, map_)
    with torch.no_grad():
        parity.check(map_, lambda scores: np.asarray(module(torch.tensor(scores, dtype=torch.float64))), "torch")
    return module


def _module(torch: Any, map_: Any) -> Any:
    root = graph_of(map_)
    place = {id(node): i for i, node in enumerate(walk(root))}
    functions = _functions(torch)

    class Calibration(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        """Scores to calibrated probabilities; the numbers of its graph are buffers of doubles."""

        def __init__(self) -> None:
            super().__init__()
            for node in walk(root):
                for name in CONSTANTS:
                    if hasattr(node, name):
                        numbers = torch.tensor(getattr(node, name), dtype=torch.float64)
                        self.register_buffer(f"{name}_{place[id(node)]}", numbers)

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
            given = scores.to(torch.float64)
            out = fold(root, lambda node, *parents: self.value(node, given, *parents))
            if not isinstance(map_, MatrixMap):
                low, high = domain(map_.space)
                out = torch.where((given >= low) & (given <= high), out, torch.nan)
            return out.to(scores.dtype) if scores.is_floating_point() else out

        def value(self, node: Node, scores: Any, *parents: Any) -> Any:
            """The value of a node of the graph, from those of its parents."""
            i = place[id(node)]
            if isinstance(node, Number | Array):
                return getattr(self, f"value_{i}")
            if isinstance(node, Operation):
                return torch.einsum(node.equation, *parents) if node.equation else functions[node.kind](*parents)
            if isinstance(node, Search):
                return torch.searchsorted(getattr(self, f"edges_{i}"), parents[0].contiguous())
            return getattr(self, f"table_{i}")[parents[0]] if isinstance(node, Pick) else scores

    return Calibration()


def _functions(torch: Any) -> dict[str, Callable[..., Any]]:
    """What the operations of the graph are in torch."""
    functions = {kind: getattr(torch, kind) for kind in ("add", "sub", "mul", "div", "exp", "log", "tanh")}
    functions |= {"min": torch.minimum, "max": torch.maximum}
    functions |= {"log_softmax": lambda x: x.log_softmax(dim=1), "softmax": lambda x: x.softmax(dim=2)}
    return functions | {"highest": lambda x: x.amax(1, keepdim=True), "column": lambda x: x.unsqueeze(-1)}
