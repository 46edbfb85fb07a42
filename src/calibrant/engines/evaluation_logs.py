"""Logs of evaluations of language models: of Inspect and of lm-evaluation-harness, as scores, options and labels."""

import json
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from scipy import special

from calibrant._tables import make_frame
from calibrant._typing import Floats
from calibrant.errors import InvalidInputError

GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer


@dataclass(frozen=True, eq=False, repr=False)
class EvaluationLog:
    """The rows of a log: how sure the model was, among which options, and whether it was right.

    Attributes
    ----------
    ids : list
        The identifier of each row in the log.
    confidence : ndarray of shape (n,)
        The probability of the chosen option, or the stated confidence; NaN where the log has none.
    right : ndarray of shape (n,)
        1 for a right answer, 0 for a wrong one, and what is between for graded ones.
    options : ndarray of shape (n, K) or None
        Log-likelihoods of the options, −∞ where a row has fewer; scores for methods with ``space="decision"``.
    labels : ndarray of shape (n,) or None
        The number of the right option.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant.engines import read_lm_eval
    >>> line = '{"doc_id": 0, "target": "1", "filtered_resps": [[-2.0, false], [-0.5, true]], "acc": 1.0}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "samples_task.jsonl"
    ...     _ = path.write_text(line)
    ...     log = read_lm_eval(path)
    >>> log.right.tolist(), log.confidence.round(2).tolist(), log.labels.tolist()
    ([1.0], [0.82], [1])
    """

    ids: list[Any]
    confidence: Floats
    right: Floats
    options: Floats | None = None
    labels: Any = None

    def to_frame(self) -> Any:
        """A pandas data frame with a row for each row of the log."""
        return make_frame({"id": self.ids, "score": self.confidence, "label": self.right})

    def __repr__(self) -> str:
        return f"EvaluationLog({len(self.ids)} rows, {100 * float(np.mean(self.right)):.3g} % right)"


def read_lm_eval(path: str | os.PathLike[str], *, metric: str = "acc") -> EvaluationLog:
    """Read the per-sample output of lm-evaluation-harness (``--log_samples``) of a multiple-choice task.

    Parameters
    ----------
    path : path-like
        A file ``samples_<task>_<date>.jsonl``.
    metric : str
        The metric that says whether an answer is right, such as "acc" or "acc_norm".

    Returns
    -------
    EvaluationLog
        The confidence is the softmax of the log-likelihoods of the options, at the largest of them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant.engines import read_lm_eval
    >>> line = '{"doc_id": 0, "target": 0, "filtered_resps": [[-0.5, true], [-2.0, false]], "acc": 1.0}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "samples_task.jsonl"
    ...     _ = path.write_text(line)
    ...     log = read_lm_eval(path)
    >>> log.right.tolist(), log.options.tolist()
    ([1.0], [[-0.5, -2.0]])
    """
    ids, likelihoods, targets, right = [], [], [], []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        row = json.loads(line)
        try:
            likelihoods.append([float(value) for value, _ in row["filtered_resps"]])  # and whether it is greedy
            targets.append(int(row["target"]))
            right.append(float(row[metric]))
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"Line {number} of {path} must have `filtered_resps` with a log-likelihood for each option, the number "
                f"of the right one as `target`, and the metric {metric!r}. Tasks that generate text have none of these."
            ) from error
        ids.append(row.get("doc_id", number - 1))
    if not ids:
        raise InvalidInputError(f"{path} has no rows.")
    options = np.array(list(zip_longest(*likelihoods, fillvalue=-np.inf))).T
    return EvaluationLog(ids, special.softmax(options, axis=1).max(axis=1), np.array(right), options, np.array(targets))


def read_inspect(
    path: str | os.PathLike[str], *, scorer: str | None = None, confidence: str | None = None
) -> EvaluationLog:
    """Read the samples of a log of Inspect, ``.eval`` or ``.json``.

    Parameters
    ----------
    path : path-like
        The log.
    scorer : str, optional
        The scorer whose grades count; by default the first one.
    confidence : str, optional
        The key of the stated confidence in the metadata of the score, or else of the sample. Without it, the confidence
        is the probability of the first token of the answer, where the log has log-probabilities.

    Returns
    -------
    EvaluationLog
        Grades "C", "P" and "I" are 1, 0.5 and 0, as in Inspect.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from calibrant.engines import read_inspect
    >>> sample = '{"id": 1, "scores": {"match": {"value": "C", "metadata": {"sure": 0.8}}}}'
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.json"
    ...     _ = path.write_text('{"samples": [' + sample + "]}")
    ...     log = read_inspect(path, confidence="sure")
    >>> log.right.tolist(), log.confidence.tolist()
    ([1.0], [0.8])
    """
    ids, sure, right = [], [], []
    for sample in _inspect_samples(Path(path)):
        scores = sample.get("scores") or {}
        name = scorer if scorer is not None else next(iter(scores), None)
        if name not in scores:
            continue  # it was not scored, such as after an error
        score = scores[name]
        ids.append(sample.get("id"))
        right.append(_grade(score.get("value"), name))
        sure.append(_stated(sample, score, confidence) if confidence is not None else _first_token(sample))
    if not ids:
        raise InvalidInputError(f"{path} has no samples that {scorer or 'a scorer'} has scored.")
    return EvaluationLog(ids, np.array(sure), np.array(right))


def _inspect_samples(path: Path) -> Iterator[dict[str, Any]]:
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.startswith("samples/") and name.endswith(".json"):
                    yield json.loads(archive.read(name))
    else:
        yield from json.loads(path.read_text(encoding="utf-8")).get("samples") or []


def _grade(value: Any, scorer: Any) -> float:
    if isinstance(value, str) and value in GRADES:
        return GRADES[value]
    if isinstance(value, bool | int | float):
        return float(value)
    raise InvalidInputError(f"A grade must be C, P, I, N or a number; the scorer {scorer!r} gave {value!r}.")


def _stated(sample: dict[str, Any], score: dict[str, Any], key: str) -> float:
    stated = ((place.get("metadata") or {}).get(key) for place in (score, sample))
    return float(next((value for value in stated if value is not None), np.nan))


def _first_token(sample: dict[str, Any]) -> float:
    choices = (sample.get("output") or {}).get("choices") or [{}]
    content = (choices[0].get("logprobs") or {}).get("content") or []
    return float(np.exp(content[0]["logprob"])) if content else float("nan")
