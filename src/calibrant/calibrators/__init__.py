"""Methods for one score. One method, one file; the posterior of a large one stands beside it."""

from calibrant import _lazy

#: The name of each built-in method for one score, with its module and its class.
SCORE_METHODS: dict[str, tuple[str, str]] = {
    "identity": ("calibrant.calibrators.identity", "Identity"),
    "platt": ("calibrant.calibrators.platt", "PlattScaling"),
    "temperature": ("calibrant.calibrators.temperature", "TemperatureScaling"),
    "beta": ("calibrant.calibrators.beta", "BetaCalibration"),
    "isotonic": ("calibrant.calibrators.isotonic", "IsotonicCalibration"),
    "histogram": ("calibrant.calibrators.histogram", "HistogramBinning"),
    "sbb": ("calibrant.calibrators.published.sbb", "SBB"),
    "abb": ("calibrant.calibrators.abb", "ABB"),
    "bbq": ("calibrant.calibrators.published.bbq", "BBQ"),
    "bayes_iso": ("calibrant.calibrators.bayes_iso", "BayesIso"),
    "enir": ("calibrant.calibrators.published.enir", "ENIR"),
    "venn_abers": ("calibrant.calibrators.venn_abers", "VennAbers"),
    "spline": ("calibrant.calibrators.spline", "SplineCalibration"),
    "bpm": ("calibrant.calibrators.published.bpm", "BPM"),
    "acp": ("calibrant.calibrators.published.acp", "ACP"),
    "ets": ("calibrant.calibrators.ensemble_temperature", "EnsembleTemperatureScaling"),
    "bayes_temperature": ("calibrant.calibrators.bayes_temperature", "BayesianTemperature"),
    "blend": ("calibrant.calibrators.blend", "Blend"),
}

#: The same for a matrix with a column for each of several classes.
MATRIX_METHODS: dict[str, tuple[str, str]] = {
    "identity": ("calibrant.multiclass.scaling", "MatrixIdentity"),
    "temperature": ("calibrant.multiclass.scaling", "MatrixTemperature"),
    "vector_scaling": ("calibrant.multiclass.scaling", "VectorScaling"),
    "matrix_scaling": ("calibrant.multiclass.scaling", "MatrixScaling"),
    "dirichlet": ("calibrant.multiclass.dirichlet", "DirichletCalibration"),
    "blend": ("calibrant.multiclass.blend", "MatrixBlend"),
}

#: The methods for each shape of scores.
METHODS = {
    "score": SCORE_METHODS,
    "matrix": MATRIX_METHODS,
    "segments": {"segmented": ("calibrant.segments.calibrator", "SegmentedCalibrator")},
    "panel": {"panel": ("calibrant.panel.calibrator", "PanelCalibrator")},
}

__getattr__, __dir__, __all__ = _lazy.attach(
    __name__, {cls: module for methods in METHODS.values() for module, cls in methods.values()}
)
