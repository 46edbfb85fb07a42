"""Metrics at 10⁶ rows as ratios to the fastest peer, and the cost of 1000 bootstrap replicates.

Each of ours is timed from raw arrays, with its own sort. Peers that are not installed are named and skipped: relplot,
torchmetrics (torch), uncertainty-calibration, model-diagnostics, statsmodels.

Run with ``python -m benchmarks.speed.metrics``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

import numpy as np
from sklearn import metrics as sk

from benchmarks.timing import compare
from calibrant import Tally, metrics, simulate

N_ROWS = 10**6


def optional(module: str) -> object | None:
    try:
        return import_module(module)
    except ImportError:
        print(f"\n{module} is not installed: its comparison is skipped")
        return None


def against(
    title: str, peer: str, task: Callable[[], object], ours: dict[str, tuple[Callable[[], object], float]]
) -> None:
    compare(f"{title}, {N_ROWS:.0e} rows", (peer, task), ours, rounds=3)


def ks_by_numpy(p: np.ndarray, y: np.ndarray) -> float:
    order = np.argsort(p)
    return float(np.abs(np.cumsum(p[order]) - np.cumsum(y[order])).max() / len(p))


def with_scikit_learn(p: np.ndarray, y: np.ndarray) -> None:
    for name, peer in (("brier_score", sk.brier_score_loss), ("log_loss", sk.log_loss), ("roc_auc", sk.roc_auc_score)):
        against(name, "scikit-learn", partial(peer, y, p), {"calibrant": (partial(getattr(metrics, name), y, p), 1.0)})


def with_torchmetrics(p: np.ndarray, y: np.ndarray) -> None:
    torch, peer = optional("torch"), optional("torchmetrics.functional.classification")
    if torch and peer:
        tensors = torch.tensor(p), torch.tensor(y)
        single = torch.tensor(p, dtype=torch.float32), tensors[1]
        ours = {"calibrant": (partial(metrics.expected_calibration_error, y, p), 1.0)}
        peer_ece = partial(peer.binary_calibration_error, n_bins=15, validate_args=False)
        against("ECE, 15 bins", "torchmetrics, float64", partial(peer_ece, *tensors), ours)
        against("ECE, 15 bins", "torchmetrics, float32", partial(peer_ece, *single), ours)


def with_relplot(p: np.ndarray, y: np.ndarray) -> None:
    if peer := optional("relplot"):
        smooth = metrics.smooth_calibration_error
        ours = {
            "calibrant": (partial(smooth, y, p), 0.5),
        }
        against("smECE", "relplot", lambda: peer.smECE(p, y), ours)


def with_the_rest(p: np.ndarray, y: np.ndarray) -> None:
    if peer := optional("calibration.utils"):
        ours = {"calibrant": (partial(metrics.debiased_calibration_error, y, p), 1.0)}
        against("debiased error", "uncertainty-calibration", partial(peer.lower_bound_scaling_ce, p, y), ours)
    if peer := optional("model_diagnostics.scoring"):
        score = peer.SquaredError()
        task = partial(peer.decompose, y, p, scoring_function=score)
        against("CORP", "model-diagnostics", task, {"calibrant": (partial(metrics.corp_decomposition, y, p), 1.0)})
    if peer := optional("statsmodels.nonparametric.smoothers_lowess"):
        ours = {"calibrant": (partial(metrics.integrated_calibration_index, y, p), 1.0)}
        lowess = partial(peer.lowess, y, p, frac=0.75, it=0, delta=0.01, return_sorted=False)
        against("ICI", "statsmodels lowess, delta=0.01", lambda: np.abs(lowess() - p).mean(), ours)


def of_our_own(p: np.ndarray, y: np.ndarray) -> None:
    ece = metrics.expected_calibration_error
    against(
        "1000 bootstrap replicates of ECE",
        "one ECE",
        partial(ece, y, p),
        {
            "calibrant.metrics.bootstrap_interval": (partial(metrics.bootstrap_interval, ece, y, p), 20.0),
        },
    )
    tally = Tally.from_arrays(p, y)
    rest = {
        name: (partial(getattr(metrics, name), tally), None)
        for name in metrics.__all__
        if name.endswith(("_error", "_score", "_test", "_line", "loss", "auc", "bpm", "index"))
        and "label" not in name
        and "class" not in name
    }
    compare(
        f"every metric from one shared tally, {N_ROWS:.0e} rows",
        ("the sort", partial(Tally.from_arrays, p, y)),
        rest,
        rounds=2,
    )


def main() -> None:
    data = simulate.bayes_iso(N_ROWS, rng=0)
    p, y = np.array(data.scores), np.array(data.labels)
    with_scikit_learn(p, y)
    with_torchmetrics(p, y)
    against(
        "KS error",
        "numpy: argsort and sums",
        partial(ks_by_numpy, p, y),
        {"calibrant": (partial(metrics.ks_calibration_error, y, p), 1.0)},
    )
    with_relplot(p, y)
    with_the_rest(p, y)
    of_our_own(p, y)


if __name__ == "__main__":
    main()
