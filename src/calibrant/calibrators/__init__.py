"""One method, one file. `registry` finds them by name; `base` says what they share."""

from calibrant import _lazy

#: The name of each built-in method, with its module and its class.
METHODS: dict[str, tuple[str, str]] = {
    "identity": ("identity", "Identity"),
    "platt": ("platt", "PlattScaling"),
    "temperature": ("temperature", "TemperatureScaling"),
    "beta": ("beta", "BetaCalibration"),
    "isotonic": ("isotonic", "IsotonicCalibration"),
    "histogram": ("histogram", "HistogramBinning"),
    "sbb": ("sbb", "SBB"),
    "abb": ("abb", "ABB"),
    "bbq": ("bbq", "BBQ"),
    "bayes_iso": ("bayes_iso", "BayesIso"),
    "enir": ("enir", "ENIR"),
    "venn_abers": ("venn_abers", "VennAbers"),
    "spline": ("spline", "SplineCalibration"),
    "bpm": ("bpm", "BPM"),
    "acp": ("acp", "ACP"),
    "ets": ("ensemble_temperature", "EnsembleTemperatureScaling"),
    "bayes_temperature": ("bayes_temperature", "BayesianTemperature"),
    "blend": ("blend", "Blend"),
}

__getattr__, __dir__, __all__ = _lazy.attach(__name__, dict(METHODS.values()))
