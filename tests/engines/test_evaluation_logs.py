"""Small logs in the formats of Inspect and lm-evaluation-harness."""

import json
import zipfile

import numpy as np
import pytest

from calibrant.engines import read_inspect, read_lm_eval
from calibrant.errors import InvalidInputError


def lm_line(doc_id, likelihoods, target, acc):
    return {
        "doc_id": doc_id,
        "doc": {"question": "…"},
        "target": target,
        "arguments": {},
        "resps": [[[value, False]] for value in likelihoods],
        "filtered_resps": [[value, False] for value in likelihoods],
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "acc": acc,
        "acc_norm": 1.0 - acc,
    }


def test_choices_become_confidence_options_and_labels(tmp_path):
    lines = [lm_line(0, [-1.0, -2.0, -3.0], 0, 1.0), lm_line(1, ["-4.0", "-0.5"], "0", 0.0)]
    path = tmp_path / "samples_arc_easy_2025.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)) + "\n\n")
    log = read_lm_eval(path)
    assert log.ids == [0, 1]
    assert log.right.tolist() == [1.0, 0.0]
    assert log.labels.tolist() == [0, 0]
    assert log.options[1].tolist() == [-4.0, -0.5, -np.inf]
    assert log.confidence[1] == pytest.approx(1.0 / (1.0 + np.exp(-3.5)))
    assert read_lm_eval(path, metric="acc_norm").right.tolist() == [0.0, 1.0]
    assert log.to_frame().columns.tolist() == ["id", "score", "label"]
    assert repr(log) == "EvaluationLog(2 rows, 50 % right)"


@pytest.mark.parametrize("change", [{"filtered_resps": ["so it is 42"]}, {"target": "the answer"}, {"acc": None}])
def test_tasks_without_options_are_refused(tmp_path, change):
    path = tmp_path / "samples.jsonl"
    path.write_text(json.dumps(lm_line(0, [-1.0, -2.0], 0, 1.0) | change))
    with pytest.raises(InvalidInputError, match="Line 1 of"):
        read_lm_eval(path)
    path.write_text("\n")
    with pytest.raises(InvalidInputError, match="no rows"):
        read_lm_eval(path)


def inspect_sample(number, value, **more):
    output = {"choices": [{"message": {}, "logprobs": {"content": [{"token": "A", "logprob": -0.5}]}}]}
    scores = {"choice": {"value": value, "answer": "A", "metadata": {"confidence": 0.1 * number}}}
    return {"id": number, "epoch": 1, "target": "A", "output": output, "scores": scores} | more


def write_logs(folder, samples):
    (folder / "log.json").write_text(json.dumps({"version": 2, "status": "success", "samples": samples}))
    with zipfile.ZipFile(folder / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
        for sample in samples:
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    return folder / "log.json", folder / "log.eval"


def test_both_formats_of_inspect_say_the_same(tmp_path):
    samples = [
        inspect_sample(1, "C"),
        inspect_sample(2, "I"),
        inspect_sample(3, 0.25),
        inspect_sample(4, "C", scores={}),
    ]
    for path in write_logs(tmp_path, samples):
        log = read_inspect(path)
        assert log.ids == [1, 2, 3]
        assert log.right.tolist() == [1.0, 0.0, 0.25]
        assert log.confidence == pytest.approx(np.full(3, np.exp(-0.5)))
        assert read_inspect(path, confidence="confidence").confidence == pytest.approx([0.1, 0.2, 0.3])


def test_missing_confidence_is_not_a_number_and_the_sample_may_state_it(tmp_path):
    bare = inspect_sample(1, "C", output={}, metadata={"sure": 0.7})
    path, _ = write_logs(tmp_path, [bare])
    assert np.isnan(read_inspect(path).confidence).all()
    assert np.isnan(read_inspect(path, confidence="unknown").confidence).all()
    assert read_inspect(path, confidence="sure").confidence.tolist() == [0.7]


def test_logs_without_grades_are_refused(tmp_path):
    path, _ = write_logs(tmp_path, [inspect_sample(1, "yes")])
    with pytest.raises(InvalidInputError, match="'yes'"):
        read_inspect(path)
    with pytest.raises(InvalidInputError, match="no samples"):
        read_inspect(path, scorer="other")
