import sys

import pytest

from calibrant import compare, evaluate, simulate
from calibrant._tables import make_frame
from calibrant.errors import MissingExtraError


def test_intervals_become_columns_and_columns_stay():
    frame = make_frame([{"a": 1, "b": {"value": 2.0, "low": 1.0, "high": 3.0}}, {"a": 2, "b": None}])
    assert frame.columns.tolist() == ["a", "b", "b_low", "b_high"]
    assert frame["b_high"].iloc[0] == 3.0
    assert make_frame({"x": [1, 2]})["x"].tolist() == [1, 2]


def test_without_pandas_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        make_frame([])


def test_comparison_and_evaluation_as_frames():
    data = simulate.from_truth("underconfident", 300)
    table = compare(data.scores, data.labels, methods=["platt", "isotonic"])
    frame = table.to_frame()
    assert frame["name"].tolist() == [result.name for result in table.results]
    assert frame.set_index("name").loc["platt", "log_loss"] == table["platt"].log_loss.value
    assert frame.set_index("name").loc["platt", "log_loss_low"] == table["platt"].log_loss.low
    assert frame["recommended"].sum() == 1
    measures = evaluate(data.labels, {"raw": data.scores, "truth": data.probabilities})
    wide = measures.to_frame()
    assert {"model", "measure", "value", "low", "high"} <= set(wide.columns)
    own = wide[(wide["model"] == "truth") & (wide["measure"] == "log_loss")]
    assert own["value"].item() == measures["log_loss"]["truth"].value
