"""Table 1 of Naeini, Cooper and Hauskrecht 2015 (SDM): six ways to calibrate, by discrimination and calibration.

``python -m benchmarks.papers.sdm_table1 [--data FOLDER] [--repetitions N]`` takes about a minute.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit, ndtri
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import BernoulliNB
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from benchmarks.papers import experiment
from benchmarks.papers.sdm_figures import TABLE_1
from calibrant import ABB, ACP, SBB, HistogramBinning, IsotonicCalibration, PlattScaling, metrics

MEASURES: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "AUC": metrics.roc_auc,
    "Acc": lambda y, p: accuracy_score(y, p > 0.5),
    "RMSE": lambda y, p: metrics.brier_score(y, p) ** 0.5,
    "MCE": partial(metrics.maximum_calibration_error, n_bins=10, strategy="quantile"),
    "ECE": partial(metrics.expected_calibration_error, n_bins=10, strategy="quantile"),
}
METHODS = {
    "IsoReg": partial(IsotonicCalibration, target_correction=False),
    "Platt": PlattScaling,
    "Hist": partial(HistogramBinning, n_bins=10, strategy="quantile"),
    "SBB": SBB,
    "ABB": ABB,
}
SPREAD, INNER, OUTER = 0.4, 1.25, 2.0  # of the exclusive or's corners; of the ring around a disc of radius 1


@dataclass(frozen=True)
class Split:
    """Features and labels of the rows that train the model, calibrate it and judge it."""

    train: tuple[np.ndarray, np.ndarray]
    calibration: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


def xor(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    corners = rng.choice((-1.0, 1.0), (n, 2))
    return corners + SPREAD * rng.standard_normal((n, 2)), corners.prod(axis=1) > 0


def circular(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    y, angle = rng.random(n) < 0.5, rng.uniform(0.0, 2.0 * np.pi, n)
    radius = np.sqrt(np.where(y, rng.random(n), rng.uniform(INNER**2, OUTER**2, n)))
    return radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle))), y


def simulated(draw: Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]], seeds: int) -> Iterator[Split]:
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        yield Split(draw(rng, 600), draw(rng, 600), draw(rng, 600))


def adult(path: Path, encode: str, seeds: int) -> Iterator[Split]:
    """2000, 600 and 600 random rows without missing values; the encoding is learned from the first."""
    table = pd.read_parquet(path)
    table = table[~(table == "?").any(axis=1)].drop(columns=["income", "split"])
    y, X = table.pop("target").to_numpy() == 1, table
    numbers = X.select_dtypes("number").columns
    words = [name for name in X.columns if name not in numbers]
    X = X.astype(dict.fromkeys(words, str))
    for seed in range(seeds):
        rows = np.split(np.random.default_rng(seed).permutation(len(X))[:3200], (2000, 2600))
        scale = (
            KBinsDiscretizer(10, encode="onehot-dense", quantile_method="averaged_inverted_cdf")
            if encode == "binary"
            else StandardScaler()
        )
        columns = make_column_transformer(
            (scale, numbers), (OneHotEncoder(handle_unknown="ignore", sparse_output=False), words)
        )
        columns.fit(X.iloc[rows[0]])
        yield Split(*((columns.transform(X.iloc[part]), y[part]) for part in rows))


def spect(train: Path, test: Path) -> Iterator[Split]:
    """The given split; the paper calibrates on the training rows."""
    parts = []
    for path in (train, test):
        table = pd.read_csv(path)
        y = table.pop("OVERALL_DIAGNOSIS").to_numpy() == 1
        parts.append((table.to_numpy(dtype=np.float64), y))
    yield Split(parts[0], parts[0], parts[1])


def logistic_intervals(
    model: LogisticRegression, X_train: np.ndarray, X: np.ndarray, level: float = 0.95
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Predictions of a logistic regression and their intervals, by the delta method; its penalty counts as data."""
    design, rows = (np.column_stack((np.ones(len(each)), each)) for each in (X_train, X))
    coefficients = np.concatenate((model.intercept_, model.coef_[0]))
    p = expit(design @ coefficients)
    information = design.T @ (design * (p * (1.0 - p))[:, None])
    information[1:, 1:] += np.eye(design.shape[1] - 1) / model.C
    eta = rows @ coefficients
    deviations = np.sqrt(np.einsum("ij,ij->i", rows, np.linalg.solve(information, rows.T).T))
    reach = ndtri(0.5 + 0.5 * level) * deviations
    return expit(eta), expit(eta - reach), expit(eta + reach)


def measured(split: Split, make: Callable[[], object]) -> dict[str, list[float]]:
    """The five measures of the model itself and of each method."""
    (X_train, y_train), (X_cal, y_cal), (X, y) = split.train, split.calibration, split.test
    model = make().fit(X_train, y_train)
    known, asked = experiment.scores(model, X_cal), experiment.scores(model, X)
    found = {"base": asked}
    if isinstance(model, LogisticRegression):
        found["ACP"] = ACP().fit(known, y_cal).predict_between(*logistic_intervals(model, X_train, X))
    found |= {name: method().fit(known, y_cal).predict(asked) for name, method in METHODS.items()}
    return {name: [measure(y, p) for measure in MEASURES.values()] for name, p in found.items()}


def table(title: str, splits: Iterator[Split], make: Callable[[], object]) -> None:
    """Print ours, the mean over the splits, beside the published figures."""
    runs = [measured(split, make) for split in splits]
    ours = {name: np.mean([run[name] for run in runs], axis=0) for name in runs[0]}
    paper = TABLE_1[title]
    print(f"\nTable 1{title}, mean of {len(runs)} split{'s' * (len(runs) > 1)} (published)")
    experiment.header(ours, label=6)
    for k, measure in enumerate(MEASURES):
        experiment.beside(measure, [float(column[k]) for column in ours.values()], paper[measure], label=6)


def main() -> None:
    arguments = experiment.parser("sdm_table1", __doc__.splitlines()[0])
    arguments.add_argument("--repetitions", type=int, default=10, help="random splits of simulations and Adult")
    options = arguments.parse_args()
    seeds = options.repetitions
    warnings.filterwarnings("ignore", message="Bins whose width")  # most capital gains are 0
    bayes, regression = BernoulliNB, partial(LogisticRegression, max_iter=2000)
    table("a XOR, LR", simulated(xor, seeds), regression)
    table("b circular, LR", simulated(circular, seeds), regression)
    path = experiment.raw_data(options.data, "adult.parquet")
    if path is not None:
        table("c Adult, NB", adult(path, "binary", seeds), bayes)
        table("d Adult, linear SVM", adult(path, "scaled", seeds), partial(SVC, kernel="linear"))
        table("e Adult, LR", adult(path, "scaled", seeds), regression)
    train, test = (experiment.raw_data(options.data, f"spect_{part}.csv") for part in ("train", "test"))
    if train is not None and test is not None:
        table("f SPECT, NB", spect(train, test), bayes)
        table("g SPECT, quadratic SVM", spect(train, test), partial(SVC, kernel="poly", degree=2))
        table("h SPECT, LR", spect(train, test), regression)
    print("\nTables 1i, j, k: not run, the pneumonia (CAP) data are private.")
    experiment.deviations(DEVIATIONS)


DEVIATIONS = (
    "The paper shows one run each; ours is a mean over random splits (SPECT has one fixed split).",
    (
        "XOR and circular are given as pictures only; the shapes are ours. The direction that the regression "
        "finds in them is chance, and with it how well any map of its score can do: ABB's AUC ranges from .59 to "
        ".98 over ten XORs."
    ),
    (
        "Learners, codings and penalties are not given. Ours are scikit-learn's defaults: Adult one-hot with "
        "scaled numbers (NB: numbers in ten bins), and our SVM and LR are stronger, above all LR (AUC .90, there "
        ".73); the reason is not known."
    ),
    "SPECT's test rows hold 15 normal and 172 abnormal; the paper calls the 15 positive, here abnormal is.",
    "λ of SBB and ABB is not given: ours is chosen (SBB) or averaged (ABB) by evidence on 1, 2, 4 … 256.",
    (
        "Hist has 10 bins of equal size (number not given); IsoReg interpolates between its blocks; Platt is a "
        "sigmoid of the logit with corrected targets. The published Platt of 1d is hardly more than the base "
        "rate."
    ),
    (
        "ACP takes each row's own interval from the regression, penalty included. In 1a and 1b the slope is "
        "chance, so an interval holds 56 to 100 % of the calibration rows, and ACP stays far below the published "
        "figures. The paper says that ACP adjusts the intervals, not how."
    ),
    (
        "ECE and MCE are as printed in section 4, with 10 bins of equal frequency. The published ECE cannot all "
        "be: in 1d the SVM's accuracy .248 at AUC .864 all but implies that nearly every probability is above ½ "
        "and about a quarter of the labels positive, so by that formula ECE is at least about .25, with any bins; "
        "the table says .205."
    ),
    (
        "Equal probabilities share a bin here. With ties sorted by label, ours had MCE .59 for IsoReg and .69 for "
        "SBB in 1b (published .61 and .79), but .28 for Hist (.12): perhaps the large published MCE are partly an "
        "artefact of ties."
    ),
)


if __name__ == "__main__":
    main()
