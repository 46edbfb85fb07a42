"""Record what peer packages say about decisions and forecasts, for tests/decisions/peers.json.

Needs dcurves, scores, statsmodels and pmvalsampsize; they are no dependencies of calibrant, so its tests compare with
the recorded values.

Run: python benchmarks/record/decisions.py tests/decisions/peers.json
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels.api as sm
import xarray as xr
from dcurves import dca
from pmvalsampsize.pmvalsampsize import pmvalsampsize
from scores import probability
from statsmodels.stats.proportion import proportion_confint

PEERS = ["dcurves", "scores", "statsmodels", "pmvalsampsize"]


def draw(seed: int, n: int, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities with ties, and labels from a bent truth."""
    rng = np.random.default_rng(seed)
    p = np.clip(np.round(rng.beta(1.5, 4.0, n), decimals), 0.001, 0.999)
    return (rng.random(n) < p**1.3).astype(int), p


def decision_curves(y: np.ndarray, p: np.ndarray) -> dict[str, object]:
    thresholds = [0.01, 0.05, 0.1, 0.2, 0.25, 0.4, 0.6, 0.85]
    table = dca(data=pd.DataFrame({"y": y, "p": p}), outcome="y", modelnames=["p"], thresholds=thresholds)
    rows = {name: table[table.model == name] for name in ("p", "all")}
    return {
        "thresholds": thresholds,
        "net_benefit": rows["p"].net_benefit.tolist(),
        "treat_all": rows["all"].net_benefit.tolist(),
    }


def forecasts(y: np.ndarray, p: np.ndarray) -> dict[str, object]:
    ratios, thetas = [0.05, 0.1, 0.25, 0.5, 0.8], [0.1, 0.25, 0.33, 0.5, 0.9]
    observed, forecast = (xr.DataArray(column.astype(float), dims="row") for column in (y, p))
    value = probability.relative_economic_value(
        forecast, observed, cost_loss_ratios=ratios, probability_thresholds=ratios
    )
    diagonal = [float(value.sel(cost_loss_ratio=r, probability_threshold=r)) for r in ratios]
    murphy = probability.murphy_score(forecast, observed, thetas, functional="expectile", alpha=0.5)
    return {
        "cost_loss_ratios": ratios,
        "relative_economic_value": diagonal,
        "thetas": thetas,
        "murphy": murphy["total"].values.tolist(),
        "brier": float(probability.brier_score(forecast, observed)),
    }


def updates(y: np.ndarray, p: np.ndarray) -> dict[str, object]:
    """Deviances of the rungs of the updating ladder whose form every package agrees on, and exact limits."""
    z = np.log(p / (1 - p))
    binomial = sm.families.Binomial()
    intercept = sm.GLM(y, np.ones((len(y), 1)), family=binomial, offset=z).fit()
    both = sm.GLM(y, sm.add_constant(z), family=binomial).fit()
    knots = np.quantile(z, [0.25, 0.5, 0.75])
    hinges = np.column_stack([sm.add_constant(z), *(np.maximum(z - knot, 0) for knot in knots)])
    flexible = sm.GLM(y, hinges, family=binomial).fit()
    clusters = {"groups": np.arange(len(y)) // 10, "use_correction": False}
    many = sm.Logit(y, sm.add_constant(z)).fit(cov_type="cluster", cov_kwds=clusters, disp=0)
    large = sm.Logit(y, np.ones((len(y), 1)), offset=z).fit(cov_type="cluster", cov_kwds=clusters, disp=0)
    losses = sm.OLS((y - p) ** 2, np.ones(len(y))).fit(cov_type="cluster", cov_kwds=clusters)
    low, high = proportion_confint(int(y.sum()), len(y), alpha=0.05, method="beta")
    return {
        "deviances": {
            "keep": float(-2 * (y @ np.log(p) + (1 - y) @ np.log1p(-p))),
            "intercept": float(intercept.deviance),
            "intercept and slope": float(both.deviance),
            "flexible": float(flexible.deviance),
        },
        "intercept": float(intercept.params[0]),
        "intercept and slope": both.params.tolist(),
        "knots": knots.tolist(),
        "groups_of_ten": {
            "slope_error": float(many.bse[1]),
            "intercept_error": float(large.bse[0]),
            "wald": float(many.wald_test((np.eye(2), [0.0, 1.0]), use_f=False, scalar=True).statistic),
            "brier_error": float(losses.bse[0]),
        },
        "exact_proportion": [float(low), float(high)],
    }


def sample_sizes() -> list[dict[str, object]]:
    """The rows that pmvalsampsize asks for; it draws a million linear predictors from the given normal."""
    cases = []
    for prevalence, auc, oe_width, auc_width in ((0.43, 0.8, 0.2, 0.1), (0.1, 0.7, 0.3, 0.1), (0.02, 0.9, 0.4, 0.05)):
        options = {"oeciwidth": oe_width, "cstatciwidth": auc_width, "csciwidth": 0.3, "lpnormal": (-1.0, 1.2)}
        result = pmvalsampsize(type="b", prevalence=prevalence, cstatistic=auc, noprint=True, **options)
        sizes = [int(result["results_table"][row][1]) for row in range(3)]
        rows = dict(zip(("observed_expected", "slope", "auc"), sizes, strict=True))
        cases.append({"prevalence": prevalence, "auc": auc, "widths": [oe_width, 0.3, auc_width], "rows": rows})
    return cases


def main(path: str) -> None:
    cases = []
    for seed, n, decimals in ((0, 300, 2), (1, 1500, 3)):
        y, p = draw(seed, n, decimals)
        data = {"labels": y.tolist(), "probabilities": p.tolist()}
        cases.append({"data": data, **decision_curves(y, p), **forecasts(y, p), **updates(y, p)})
    document = {
        "versions": {name: version(name) for name in PEERS},
        "cases": cases,
        "sample_sizes": sample_sizes(),
    }
    Path(path).write_text(json.dumps(document) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
