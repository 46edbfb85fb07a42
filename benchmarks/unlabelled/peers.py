"""Peers' answers to the same questions, each in an environment of its own, with numpy, pandas and pyarrow.

python -m benchmarks.unlabelled.peers ppi-python FOLDER --out ppi.csv
python -m benchmarks.unlabelled.peers cje-eval FOLDER --out cje.csv
python -m benchmarks.unlabelled.peers nannyml FOLDER --out nannyml.csv
"""

from __future__ import annotations

import argparse
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.unlabelled import splits
from benchmarks.unlabelled.splits import LEVEL, THRESHOLD, Answer, Run, Z


def ask_ppi(run: Run) -> dict[str, Answer]:
    """Means of an outcome: of the label, of being right, of the label among rows called positive."""
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    called, hidden_called = run.scores >= THRESHOLD, run.hidden_scores >= THRESHOLD
    right = (called == (run.labels == 1)).astype(float)
    sure, hidden_sure = (np.where(s >= THRESHOLD, s, 1.0 - s) for s in (run.scores, run.hidden_scores))
    questions = {
        "mean": (run.labels.astype(float), run.scores, run.hidden_scores),
        "accuracy": (right, sure, hidden_sure),
        "precision": (run.labels[called].astype(float), run.scores[called], run.hidden_scores[hidden_called]),
    }
    answers = {}
    for what, (y, predicted, hidden) in questions.items():
        if min(len(y), len(hidden)) < 2:
            continue
        low, high = ppi_mean_ci(y, predicted, hidden, alpha=1.0 - LEVEL)
        value = ppi_mean_pointestimate(y, predicted, hidden)
        answers[what] = (float(np.ravel(value)[0]), float(np.ravel(low)[0]), float(np.ravel(high)[0]))
    return answers


def ask_cje(run: Run) -> dict[str, Answer]:
    """The mean over all rows, labelled ones included, brought to the hidden rows by what is known of the others."""
    import cje

    scores = np.concatenate((run.scores, run.hidden_scores))
    labels = np.concatenate((run.labels.astype(float), np.full(len(run.hidden_scores), np.nan)))
    result = cje.calibrated_mean_ci(scores, labels, alpha=1.0 - LEVEL)
    known, rest = run.labels.sum(), len(run.hidden_scores)
    value, low, high = ((part * len(scores) - known) / rest for part in (result.estimate, *result.ci))
    return {"mean": (float(value), float(low), float(high))}


def ask_nannyml(run: Run) -> dict[str, Answer]:
    """CBPE with its own isotonic calibration; its sampling error as a normal 90 % interval."""
    import nannyml

    metrics = {"accuracy": "accuracy", "precision": "precision", "auc": "roc_auc"}
    estimator: Any = nannyml.CBPE(
        metrics=list(metrics.values()),
        y_pred_proba="score",
        y_pred="called",
        y_true="label",
        problem_type="classification_binary",
        chunk_number=1,
    )
    reference = pd.DataFrame(
        {"score": run.scores, "called": (run.scores >= THRESHOLD).astype(int), "label": run.labels}
    )
    analysis = pd.DataFrame({"score": run.hidden_scores, "called": (run.hidden_scores >= THRESHOLD).astype(int)})
    table = estimator.fit(reference).estimate(analysis).filter(period="analysis").to_df()
    answers = {}
    for what, name in metrics.items():
        value, error = (float(table[(name, column)].iloc[0]) for column in ("value", "sampling_error"))
        answers[what] = (value, value - Z * error, value + Z * error)
    return answers


PEERS = {"ppi-python": ask_ppi, "cje-eval": ask_cje, "nannyml": ask_nannyml}


def _or_nothing(peer: str) -> splits.Method:
    def ask(run: Run) -> dict[str, Answer]:
        try:
            return PEERS[peer](run)
        except Exception as error:
            print(f"{peer} {run.task} {run.n} {run.rep}: {type(error).__name__} {str(error)[:100]}")
            return {}

    return ask


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--reps", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(splits.SIZES))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    every = splits.runs(options.folder, splits.JUDGED, tuple(options.sizes), options.reps)
    splits.write(options.out, options.peer, every, _or_nothing(options.peer))


if __name__ == "__main__":
    main()
