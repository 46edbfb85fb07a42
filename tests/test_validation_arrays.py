import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import calibrant
from calibrant._validation import as_numpy, read_matrix
from calibrant.errors import InvalidInputError
from calibrant.monitoring import AdaptiveCalibrator

ROWS = [[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]


class OnDevice:
    """An array of another library: half precision that numpy lacks, and a gradient to detach from."""

    dtype = "bfloat16"

    def __init__(self, values, steps=()):
        self.values, self.steps = values, steps

    def detach(self):
        return OnDevice(self.values, (*self.steps, "detach"))

    def cpu(self):
        assert "detach" in self.steps
        return OnDevice(self.values, (*self.steps, "cpu"))

    def float(self):
        return np.asarray(self.values, dtype=np.float32)

    def __dlpack__(self):
        raise AssertionError("read before it was widened")


class DlpackOnly:
    """An array that refuses `np.asarray` and speaks DLPack alone."""

    dtype = "float64"

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, *args, **kwargs):
        raise TypeError("no implicit copies")

    def __dlpack__(self, **kwargs):
        return self.values.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_arrays_of_other_libraries_are_read():
    np.testing.assert_allclose(as_numpy(OnDevice(ROWS)), ROWS)
    np.testing.assert_allclose(as_numpy(DlpackOnly(ROWS)), ROWS)
    assert as_numpy(ROWS) is ROWS
    assert as_numpy(None) is None


def test_torch_tensors_are_read():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        tensor = torch.tensor(ROWS, dtype=dtype, requires_grad=True)
        np.testing.assert_allclose(read_matrix(tensor, "probability"), ROWS)


def test_a_network_in_half_precision_needs_no_conversion():
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    logits = 3.0 * torch.randn(400, 10, generator=generator)
    y = torch.multinomial(torch.softmax(logits / 2.0, dim=1), 1, generator=generator)[:, 0]
    for dtype in (torch.float16, torch.bfloat16):
        p = torch.softmax(logits.to(dtype).requires_grad_(), dim=1)
        assert calibrant.MatrixBlend().fit(p, y).predict_proba(p).shape == (400, 10)
        fitted = calibrant.MatrixBlend(space="decision").fit(logits.to(dtype), y)
        table = calibrant.evaluate(y, {"raw": p, "calibrated": fitted.predict_proba(logits.to(dtype))}, n_resamples=2)
        assert table["log_loss"]["calibrated"].value < table["log_loss"]["raw"].value
        compared = calibrant.compare(p, y, methods=["temperature"], cv=2)
        assert compared["temperature"].log_loss_difference.high < 0.0


def test_single_precision_stays_and_the_rest_becomes_double():
    assert read_matrix(np.array(ROWS, dtype=np.float32), "probability").dtype == np.float32
    assert read_matrix(np.array(ROWS, dtype=np.float16), "probability").dtype == np.float64
    assert read_matrix(ROWS, "decision").dtype == np.float64


@pytest.mark.parametrize(
    ("scores", "space", "message"),
    [
        (ROWS, "logits", "`space` must be one of probability, decision; got 'logits'. Logits are decision scores"),
        ([[0.5, 0.9, 0.1]], "probability", "rows sum to 1"),
        ([[0.5, np.nan, 0.1]], "decision", "must be finite"),
        ([[1.0]], "probability", "two or more classes"),
        ([0.5, 0.5], "probability", "shape"),
    ],
)
def test_what_is_no_score_matrix_is_refused(scores, space, message):
    with pytest.raises(InvalidInputError, match=message):
        read_matrix(scores, space)


def test_scores_of_one_class_need_not_be_detached():
    torch = pytest.importorskip("torch")
    scores = torch.tensor([0.1, 0.4, 0.6, 0.9], dtype=torch.float64, requires_grad=True)
    calibrator = calibrant.IsotonicCalibration().fit(scores, torch.tensor([0, 1, 0, 1]))
    np.testing.assert_allclose(calibrator.predict(scores), calibrator.predict([0.1, 0.4, 0.6, 0.9]))


@pytest.mark.parametrize("name", ["float64", "float32", "float16"])
def test_tensors_come_back_as_tensors(name):
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, name)
    scores, matrix = torch.linspace(0.1, 0.9, 40, dtype=dtype), torch.eye(3, dtype=dtype).repeat(20, 1) * 0.4 + 0.2
    one = calibrant.Blend().fit(scores, torch.arange(40) % 3 == 0)
    several = calibrant.Blend().fit(matrix, torch.arange(60) % 3)
    segmented = calibrant.SegmentedCalibrator("spline").fit(scores, torch.arange(40) % 3 == 0, segment=["a", "b"] * 20)
    found = [one.predict(scores), one.predict_proba(scores), *one.predict_interval(scores), one.map_.predict(scores)]
    found += [several.predict_proba(matrix), *several.predict_interval(matrix)]
    found += [segmented.predict(scores, ["a"] * 40), *segmented.predict_interval(scores, segment=["a"] * 40)]
    assert {each.dtype for each in found} == {torch.float64 if name == "float64" else torch.float32}
    np.testing.assert_allclose(found[0].numpy(), one.map_(scores), rtol=1e-6)
    assert isinstance(one.predict(0.5), float)
    assert isinstance(one.predict(scores.numpy()), np.ndarray)


@pytest.mark.parametrize("single", [True, False], ids=["one_score", "two_scores"])
def test_panels_and_adapting_maps_give_tensors_for_tensors(single):
    torch = pytest.importorskip("torch")
    scores, y = torch.linspace(0.1, 0.9, 40, dtype=torch.float64), np.arange(40) % 3 == 0
    judges = scores[:, None] if single else torch.stack((scores, scores.flip(0)), 1)
    panel, keys = calibrant.PanelCalibrator().fit(judges, y), ["a", "b"] * 20
    wide = calibrant.PanelCalibrator().fit(judges, y, segment=keys)
    adaptive = AdaptiveCalibrator(calibrant.VennAbers().fit(scores, y).map_)
    found = [panel.predict(judges), panel.predict_proba(judges), *panel.predict_interval(judges)]
    found += [wide.predict(judges, keys), *wide.predict_interval(judges, segment=keys), adaptive.predict(scores)]
    found += panel.frozen_map().predict_interval(judges)
    assert {type(each) for each in found} == {torch.Tensor}
    np.testing.assert_array_equal(found[2].numpy(), panel.predict_interval(judges.numpy())[0])
    assert isinstance(adaptive.predict(0.5), float)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_classifier_gives_tensors_for_tensors(n_classes):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(n_classes, size=120)
    model = calibrant.CalibratedClassifier(LogisticRegression(), cv=2).fit(X, y)
    rows = torch.tensor(X, dtype=torch.float32)
    found = [model.predict_proba(rows), *model.predict_interval(rows)]
    assert {each.dtype for each in found} == {torch.float32}
    np.testing.assert_allclose(found[0].numpy(), model.predict_proba(X), rtol=1e-4)
    np.testing.assert_array_equal(model.predict(rows), model.predict(X))  # labels may be text


def test_arrays_of_jax_come_back_as_such():
    jax = pytest.importorskip("jax")
    scores = jax.numpy.linspace(0.1, 0.9, 40, dtype="bfloat16")
    calibrator = calibrant.Blend().fit(scores, np.arange(40) % 3 == 0)
    found = [calibrator.predict(scores), calibrator.predict_proba(scores), *calibrator.predict_interval(scores)]
    assert {(isinstance(each, jax.Array), str(each.dtype)) for each in found} == {(True, "float32")}
    np.testing.assert_allclose(found[0], calibrator.map_(scores), rtol=1e-6)
