"""Wrong options of every method are refused when it is fitted, in a sentence that names them."""

import numpy as np
import pytest

from calibrant import (
    ABB,
    ACP,
    BBQ,
    SBB,
    BayesIso,
    BetaCalibration,
    EnsembleTemperatureScaling,
    HistogramBinning,
    IsotonicCalibration,
    PlattScaling,
    SplineCalibration,
    TemperatureScaling,
)
from calibrant.calibrators.published.printed_abb import PrintedABB
from calibrant.calibrators.published.sampled_bayes_iso import SampledBayesIso
from calibrant.errors import InvalidInputError

WRONG = [
    *(
        (cls, {"space": "logit"}, "`space` must be one of .*; got 'logit'")
        for cls in (PlattScaling, TemperatureScaling)
    ),
    (BetaCalibration, {"parameters": "a"}, "`parameters` must be one of abm, ab, am; got 'a'"),
    (
        IsotonicCalibration,
        {"interpolation": "cubic"},
        "`interpolation` must be one of linear, step, centred; got 'cubic'",
    ),
    (HistogramBinning, {"strategy": "kmeans"}, "`strategy` must be one of uniform, quantile; got 'kmeans'"),
    *(
        (HistogramBinning, {"n_bins": n}, "`n_bins` must be an integer of at least 1")
        for n in (0, -1, 2.5, True, "auto")
    ),
    (EnsembleTemperatureScaling, {"composed": "beta"}, "`composed`"),
    (SplineCalibration, {"n_basis": 3}, "`n_basis` must be an integer of at least 6"),
    (BayesIso, {"max_cells": 0}, "`max_cells`"),
    (BayesIso, {"max_cells": 1000}, "`max_cells` must be at most 201"),
    (ABB, {"lam": 0}, "`lam` must be a positive number"),
    (ABB, {"lam": "best"}, "'average'"),
    (ABB, {"lam": True}, "`lam`"),
    (ABB, {"alpha": -1.0}, "`alpha`"),
    (ABB, {"beta": "1"}, "`beta`"),
    (ABB, {"interval": "wald"}, "`interval` must be one of"),
    (ABB, {"n_draws": 0}, "`n_draws`"),
    (ABB, {"max_cells": 1}, "`max_cells`"),
    *((SBB, {"lam": lam}, "`lam`") for lam in (0.0, -1, [1.0, np.inf], [], None)),
    (SBB, {"lam": "average"}, "'best'"),
    (SBB, {"alpha": 0.0}, "`alpha` must be a positive number"),
    (SBB, {"beta": -2.0}, "`beta` must be a positive number"),
    (SBB, {"max_cells": 1}, "`max_cells` must be an integer of at least 2"),
    *((BBQ, {"elbow": elbow}, "`elbow`") for elbow in (-1.0, np.nan, "x", True)),
    (ACP, {"level": 1.0}, "`level`"),
    (PrintedABB, {"averaging": "mean"}, "`averaging`"),
    (PrintedABB, {"n_cache": 2.5}, "`n_cache`"),
    (SampledBayesIso, {"bounds": "tight"}, "`bounds`"),
    *((SampledBayesIso, {"n_draws": n}, "`n_draws`") for n in (200.5, 0, True)),
]


@pytest.mark.parametrize(("method", "options", "message"), WRONG)
def test_wrong_options_are_named(method, options, message):
    with pytest.raises(InvalidInputError, match=message):
        method(**options).fit([0.1, 0.9], [0, 1])
