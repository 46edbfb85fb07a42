import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.accuracy import segment_tasks, segments  # noqa: E402
from benchmarks.peers import segments as peers  # noqa: E402
from calibrant import Blend, metrics  # noqa: E402

OPTIONS = ["--tables", "shifts", "--sizes", "300", "--repeats", "2", "--single"]


def keep_scores(train, test, task):
    return test["score"].to_numpy()


def test_a_peer_is_matched_key_by_key_and_a_second_run_adds_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(peers, "METHODS", {"raw": keep_scores})
    path = tmp_path / "peers.csv"
    peers.main([*OPTIONS, "--out", str(path)])
    first = path.read_text(encoding="utf-8")
    peers.main([*OPTIONS, "--out", str(path)])
    assert path.read_text(encoding="utf-8") == first
    written = segments.read_peers(path)
    assert set(written) == {("shifts", key, 300, repeat) for key in "ab" for repeat in (0, 1)}
    segments.main([*OPTIONS, "--peers", str(path)])
    out = capsys.readouterr().out

    frame = segment_tasks.generate("shifts")
    gains = []
    for repeat in (0, 1):
        order = np.random.default_rng(repeat).permutation(len(frame))
        train, test = frame.iloc[order[:300]], frame.iloc[order[300:6300]]
        pooled = Blend().fit(train["score"], train["label"]).predict(test["score"])
        raw = metrics.log_loss(test["label"], test["score"])
        assert written["shifts", "a", 300, repeat]["raw"][0] == pytest.approx(raw, abs=1e-12)
        gains.append(1000.0 * (raw - metrics.log_loss(test["label"], pooled)))
    shown = [float(x) for x in re.findall(r"^shifts +[ab] .* raw (\S+)", out, re.MULTILINE)]
    assert shown == [pytest.approx(np.mean(gains), abs=0.006)] * 2


def test_scores_at_the_ends_are_held_within_the_bound(monkeypatch):
    monkeypatch.setattr(peers, "METHODS", {"raw": keep_scores})
    rows = pd.DataFrame({"score": [0.0, 1.0, 0.5, 0.5], "label": [0, 1, 0, 1], "a": ["u", "u", "v", "v"]})
    task = segment_tasks.Task("t", ["a"], 4, 0, rows, rows, "a")
    loss, worst = peers.judge("raw", task, bound=0.1)
    assert loss == pytest.approx(-0.5 * (np.log(0.9) + np.log(0.5)))
    assert worst == pytest.approx(0.0)


def test_the_worst_gap_is_that_of_the_segment_that_is_furthest_off():
    test = pd.DataFrame({"label": [1, 1, 1, 1, 0, 1], "one": ["x"] * 6, "a": ["u"] * 4 + ["v"] * 2})
    task = segment_tasks.Task("t", ["one", "a"], 6, 0, test, test, "all keys")
    # u: four positives where two were expected, with variance 1; v: as expected
    assert segment_tasks.worst_gap(task, np.full(6, 0.5)) == pytest.approx(2.0)
