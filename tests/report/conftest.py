"""One small data that the tests of the report share."""

from dataclasses import replace

import numpy as np
import pytest

from calibrant import Tally, compare
from calibrant.metrics import Interval
from calibrant.report.data import make_report_data
from calibrant.report.page import render

HOSTILE = '</script><script>alert(1)</script> <b>"bold"</b> & {{ 7 * 7 }} %{x}'

TITLES = {
    "bayes_iso": "Bayes-Iso (Bayesian isotonic)",
    "identity": "do nothing",
    "isotonic": "isotonic regression",
    "platt": "Platt scaling",
    "spline": "Bayesian spline",
}


def rows(n, slope, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    z = rng.normal(0.0, 1.2, n).round(1)
    return Tally.from_arrays(1 / (1 + np.exp(-z)), rng.random(n) < 1 / (1 + np.exp(-slope * z - shift)))


@pytest.fixture(scope="session", autouse=True)
def _few_resamples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("calibrant.report.data.RESAMPLES", 10)
        patch.setattr("calibrant.report.part_sections.RESAMPLED_ENTRIES", 0)  # the fewest
        yield


@pytest.fixture(scope="session")
def render_page():
    """The page of some numbers as a string."""
    pytest.importorskip("jinja2", reason="jinja2 is in the extra `report`")

    def rendered(data, title="t", **options):
        return render(data, title, **options)

    return rendered


@pytest.fixture(scope="session")
def hostile():
    return HOSTILE


@pytest.fixture(scope="session")
def tally():
    return rows(400, 2.5, 0)


@pytest.fixture(scope="session")
def comparison(tally):
    return compare(tally, methods=["platt", "isotonic"])


@pytest.fixture(scope="session")
def data(tally, comparison):
    return replace(make_report_data(tally, comparison=comparison, method="bayes_iso"), titles=TITLES)


@pytest.fixture(scope="session")
def segmented():
    segments = {HOSTILE: rows(300, 1.0, 1), "south": rows(200, 1.0, 2, shift=2.0), "one": Tally.from_arrays([0.4], [0])}
    # Some scores at the very ends, which no logit axis can show.
    segments["south"] += Tally.from_arrays([0.0, 1.0, 1.0], [0, 1, 1])
    whole = segments[HOSTILE] + segments["south"] + segments["one"]
    return make_report_data(whole, segments=segments, comparison=compare(whole, methods=["platt"]), method="bayes_iso")


@pytest.fixture(scope="session")
def unbounded():
    z = np.linspace(-3.0, 3.0, 200)
    tally = Tally.from_arrays(z, np.random.default_rng(0).random(200) < 1 / (1 + np.exp(-2 * z)))
    return make_report_data(tally, comparison=compare(tally, methods=["platt"], space="decision"), space="decision")


@pytest.fixture(scope="session")
def with_facts(data):
    """The same data with another p-value, another error, and another recommendation with its gain."""

    def changed(*, p_value, error, recommended="identity"):
        gain = Interval(0.02, 0.01 if recommended != "identity" else -0.01, 0.05, 0.9)
        size = Interval(*error, 0.9)
        verdict = replace(data.verdict, p_value=p_value, gain=gain, error=size)
        comparison = replace(data.comparison, recommended=recommended, verdict=verdict)
        return replace(data, verdict=verdict, before=replace(data.before, error=size), comparison=comparison)

    return changed


@pytest.fixture(scope="session")
def class_rows():
    """Scores and labels of three classes, whose probabilities are too extreme."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.ones(3), 300)
    y = (truth.cumsum(axis=1) < rng.random((300, 1))).sum(axis=1)
    return truth**2 / (truth**2).sum(axis=1, keepdims=True), np.array(["ant", "bee", "cow"])[y]


@pytest.fixture(scope="session")
def class_comparison(class_rows):
    return compare(*class_rows, methods=["temperature", "vector_scaling"])


@pytest.fixture(scope="session")
def classes(class_rows, class_comparison):
    return make_report_data(*class_rows, comparison=class_comparison, method="temperature")
