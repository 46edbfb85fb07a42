import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

pytest.importorskip("pandas", reason="summaries are made with pandas")

from sklearn.naive_bayes import GaussianNB  # noqa: E402

from benchmarks import endtoend  # noqa: E402
from benchmarks.arena.summary import clustered_mean, source  # noqa: E402


def test_a_learner_is_fitted_once_for_all_options():
    fits = []

    class Counting(GaussianNB):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    endtoend.CACHE.clear()
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    rows = rng.normal(size=(120, 2)) + y[:, None], y
    for model in endtoend.options(endtoend.Shared(Counting())).values():
        loss, brier = endtoend.losses(model, rows, rows)
        assert 0.0 < loss < 1.0
        assert 0.0 < brier < 1.0
    assert sorted(fits) == [96] * 5 + [120]


def test_summary_compares_with_calibrant(tmp_path, capsys):
    file = tmp_path / "rows.csv"
    lines = [
        f"t{t},200,0,tree,{name},{0.5 + gap},0.2" for t in (1, 2) for name, gap in (("calibrant", 0), ("raw", 0.01))
    ]
    file.write_text("\n".join([",".join(endtoend.COLUMNS), *lines]), encoding="utf-8")
    endtoend.summary(file)
    assert "| raw | +10.0 ± 0.0 |" in capsys.readouterr().out


def test_errors_are_those_of_clusters():
    values, clusters = [1.0, 1.0, 3.0, 3.0], ["a", "a", "b", "b"]
    assert clustered_mean(values, clusters) == pytest.approx((2.0, 1.0))  # as of the two means 1 and 3
    assert clustered_mean(values, list("abcd")) == pytest.approx((2.0, (1.0 / 3.0) ** 0.5))


@pytest.mark.parametrize(
    ("task", "name"),
    [
        ("cal_housing_svm", "cal_housing"),
        ("imagenet_timm_resnext50_32x4d", "imagenet"),
        ("toplabel_resnet110_c10", "c10"),
        ("llm_o3_2025_04_16", "llm"),
        ("forecast_nfl_games", "forecast_nfl_games"),
    ],
)
def test_source_of_a_task(task, name):
    assert source(task) == name
