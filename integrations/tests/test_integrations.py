"""Each file against the package that it is for; a package that is missing is an error, not a skip."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import calibrant
from calibrant import metrics

FOLDER = Path(__file__).parents[1]
sys.path.insert(0, str(FOLDER))


@pytest.fixture
def rows():
    rng = np.random.default_rng(5)
    p = rng.beta(2.0, 2.0, 400)
    return p, (rng.random(400) < p**2).astype(int)


def test_evaluate_module(rows):
    import evaluate

    p, y = rows
    module = evaluate.load(str(FOLDER / "evaluate_module.py"))
    for part in (slice(0, 150), slice(150, None)):
        module.add_batch(predictions=p[part], references=y[part])
    found = module.compute()
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p))
    assert found["log_loss_low"] < found["log_loss"] < found["log_loss_high"]
    assert found["verdict"] == str(calibrant.evaluate(y, p).verdict)


def test_torchmetrics(rows):
    import torch
    from torchmetrics_calibration import CalibrationError

    p, y = rows
    one, other = CalibrationError(), CalibrationError(measure=metrics.brier_score)
    for part in np.array_split(np.arange(400), 7):
        batch = torch.as_tensor(p[part]), torch.as_tensor(y[part])
        one.update(*batch)
        other.update(*batch)
    assert float(one.compute()) == pytest.approx(metrics.smooth_calibration_error(y, p))
    assert float(other.compute()) == pytest.approx(metrics.brier_score(y, p))
    tally = calibrant.Tally.from_arrays(p, y)
    assert one.tally().total == tally.total
    np.testing.assert_allclose(
        calibrant.Blend().fit_tally(one.tally()).predict(p), calibrant.Blend().fit(p, y).predict(p)
    )
    one.reset()
    one.update(*batch)
    assert one.tally().total == len(part)


def test_skore_display():
    import matplotlib

    matplotlib.use("Agg")
    import skore
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from skore_display import CalibrantDisplay

    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    report = skore.EstimatorReport(model, X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test)
    display = CalibrantDisplay.from_report(report)
    assert isinstance(display, skore.Display)
    expected = metrics.log_loss(y_test, report.estimator_.predict_proba(X_test)[:, 1])
    frame = display.frame().set_index("measure")
    assert frame.loc["log_loss", "value"] == pytest.approx(expected)
    assert display.plot().axes


def test_inspect(rows, tmp_path):
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score, Target, accuracy, scorer
    from inspect_ai.solver import solver
    from inspect_metrics import calibration_error, expected_accuracy, stated_share

    p, y = rows
    calibrant.Blend().fit(p, y).save(tmp_path / "judge.json")

    @scorer(metrics=[accuracy(), calibration_error(), stated_share(), expected_accuracy(str(tmp_path / "judge.json"))])
    def stated():
        async def score(state, target: Target):
            answer = json.loads(state.output.completion)
            return Score(value="C" if answer["a"] == target.text else "I", metadata={"confidence": answer["p"]})

        return score

    p, y = p[:50], y[:50]
    replies = [
        json.dumps({"a": "yes" if label else "no", "p": float(chance)}) for chance, label in zip(p, y, strict=True)
    ]

    @solver
    def reply():
        async def solve(state, generate):
            state.output = ModelOutput.from_content("mockllm/model", replies[int(state.input_text)])
            return state

        return solve

    task = Task(dataset=[Sample(input=str(i), target="yes") for i in range(50)], solver=reply(), scorer=stated())
    log = eval(task, model="mockllm/model", log_dir=str(tmp_path), display="none")[0]
    assert log.status == "success", log.error
    found = {name: one.value for name, one in log.results.scores[0].metrics.items()}
    assert found["accuracy"] == pytest.approx(y.mean())
    assert found["calibration_error"] == pytest.approx(metrics.smooth_calibration_error(y, p))
    assert found["stated_share"] == 1.0
    assert found["expected_accuracy"] == pytest.approx(calibrant.load(tmp_path / "judge.json").predict(p).mean())


def test_lm_eval(tmp_path):
    import lm_eval_metrics
    from lm_eval.api.task import ConfigurableTask

    rng = np.random.default_rng(6)
    answers = []
    for gold in rng.integers(0, 3, 60):
        results = [(float(value), False) for value in rng.normal(size=3) + 2.0 * (np.arange(3) == gold)]
        answers.append(lm_eval_metrics.process_results({"gold": int(gold)}, results))
    pairs = [one["calibration_error"] for one in answers]
    confidence, right = np.array(pairs).T
    assert right.mean() == pytest.approx(np.mean([one["acc"] for one in answers]))
    assert lm_eval_metrics.calibration_error(pairs) == pytest.approx(
        metrics.smooth_calibration_error(right, confidence)
    )
    assert lm_eval_metrics.brier_of_top(pairs) == pytest.approx(metrics.brier_score(right, confidence))

    # The harness takes the functions as a task's YAML would hand them over.
    data = tmp_path / "rows.jsonl"
    data.write_text("\n".join(json.dumps({"q": "?", "choices": ["a", "b"], "gold": i % 2}) for i in range(4)))
    task = ConfigurableTask(
        config={
            "task": "toy",
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": str(data)}},
            "test_split": "test",
            "output_type": "multiple_choice",
            "doc_to_text": "q",
            "doc_to_choice": "choices",
            "doc_to_target": "gold",
            "process_results": lm_eval_metrics.process_results,
            "metric_list": [
                {"metric": "acc", "aggregation": "mean", "higher_is_better": True},
                {
                    "metric": "calibration_error",
                    "aggregation": lm_eval_metrics.calibration_error,
                    "higher_is_better": False,
                },
            ],
        }
    )
    docs = list(task.test_docs())
    found = [task.process_results(doc, [(-0.1, True), (-2.0, False)]) for doc in docs]
    assert [one["acc"] for one in found] == [1.0, 0.0, 1.0, 0.0]
    aggregate = task.aggregation()["calibration_error"]
    assert aggregate([one["calibration_error"] for one in found]) >= 0.0
