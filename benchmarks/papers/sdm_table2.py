"""Table 2 of Naeini, Cooper and Hauskrecht 2015 (SDM): how the time to learn and to recall grows with N.

``python -m benchmarks.papers.sdm_table2 [--rounds N]`` takes about a minute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.papers import experiment
from benchmarks.timing import seconds
from calibrant import ABB, ACP, SBB, HistogramBinning, IsotonicCalibration, PlattScaling, simulate
from calibrant.calibrators.base import Calibrator
from calibrant.calibrators.published.printed_abb import PrintedABB

MANY = (20_000, 60_000, 200_000, 600_000)
FEW = (1000, 2000, 4000, 8000)  # for what is quadratic
ASKED = 10_000  # scores that recall is timed on; one alone would time the call
CACHE = 100  # R of the cached ABB


@dataclass(frozen=True)
class Line:
    """A method, the sizes to time it at, and what the paper says of learning and of recall."""

    make: Callable[[int], Calibrator]
    sizes: Sequence[int]
    learning: str
    recall: str


def whole(cls: Callable[..., Calibrator], n: int) -> Calibrator:
    """A binning of all N scores, none of them merged."""
    return cls(lam=1.0, max_cells=n)


LINES = {
    "Platt": Line(lambda _: PlattScaling(), MANY, "N T", "1"),
    "Hist": Line(lambda _: HistogramBinning(strategy="quantile"), MANY, "N log N", "b"),
    "IsoReg": Line(lambda _: IsotonicCalibration(target_correction=False), MANY, "N", "b"),
    "ACP, every score a cell": Line(lambda n: ACP(max_cells=n), MANY, "N log N", "N"),
    "SBB, λ = 1, every score a cell": Line(partial(whole, SBB), FEW, "N²", "b"),
    "ABB, λ = 1, every score a cell": Line(partial(whole, ABB), FEW, "–", "N²"),
    "ABB, the same, cached": Line(
        lambda n: PrintedABB(lam=1.0, averaging="sum", max_cells=n, n_cache=CACHE), FEW, "R N²", "1"
    ),
    "ACP as it is": Line(lambda _: ACP(), MANY, "–", "–"),
    "SBB as it is": Line(lambda _: SBB(), MANY, "–", "–"),
    "ABB as it is": Line(lambda _: ABB(), MANY, "–", "–"),
    "ABB as it is, cached": Line(lambda _: PrintedABB(averaging="sum", n_cache=CACHE), MANY, "–", "–"),
}


def exponent(sizes: Sequence[int], times: Sequence[float]) -> float:
    """The slope of log time against log N."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def times(line: Line, rounds: int) -> tuple[list[float], list[float]]:
    """Best seconds to learn from N rows, and best seconds to recall one score, for each size."""
    asked = np.random.default_rng(0).random(ASKED)
    data = {n: simulate.bayes_iso(n, rng=0) for n in line.sizes}
    fitted = {n: line.make(n).fit(rows.scores, rows.labels) for n, rows in data.items()}  # compiles, too
    for calibrator in fitted.values():
        calibrator.predict(asked)
    learning, recall = (dict.fromkeys(line.sizes, float("inf")) for _ in range(2))
    for _ in range(rounds):
        for n, rows in data.items():
            learning[n] = min(learning[n], seconds(partial(line.make(n).fit, rows.scores, rows.labels)))
            recall[n] = min(recall[n], *(seconds(partial(fitted[n].predict, asked)) / ASKED for _ in range(5)))
    return list(learning.values()), list(recall.values())


def main() -> None:
    arguments = experiment.parser("sdm_table2", __doc__.splitlines()[0])
    arguments.add_argument("--rounds", type=int, default=3, help="the best of so many rounds counts")
    options = arguments.parse_args()
    print("Table 2: exponents e of time ~ N^e, for learning also between the two largest N; the paper's order in ( )")
    experiment.header(("N", "learning e", "ms", "recall e", "ns a score"), label=32, width=22)
    for name, line in LINES.items():
        learning, recall = times(line, options.rounds)
        cells = (
            f"{line.sizes[0]} … {line.sizes[-1]}",
            f"{exponent(line.sizes, learning):.2f}, {exponent(line.sizes[-2:], learning[-2:]):.2f} ({line.learning})",
            f"{1e3 * learning[0]:.2f} … {1e3 * learning[-1]:.1f}",
            f"{exponent(line.sizes, recall):.2f} ({line.recall})",
            f"{1e9 * recall[0]:.0f} … {1e9 * recall[-1]:.0f}",
        )
        print(f"{name:<32}" + "".join(f"{cell:>22}" for cell in cells), flush=True)
    experiment.deviations(DEVIATIONS)


DEVIATIONS = (
    ("The paper gives orders, no times. T is Platt's iterations, b the number of bins, R that of cached cells."),
    (
        "Exponents are fitted to four sizes of the Bayes-Iso simulation, all of whose scores differ. At such "
        "sizes they need not be those of the order: constant costs of a call lower them, a sort raises them."
    ),
    (f"Recall is the time for one of {ASKED} scores asked at once: every fitted method is a look-up by bisection."),
    (
        "ABB is computed for all scores at once; the paper's costs O(N²) for each score asked, or O(R N²) for "
        f"a cache, here R = {CACHE}."
    ),
    (
        "As it is: SBB, ABB and ACP merge scores into at most 2048 cells, and SBB and ABB try nine λ, not "
        "one; what is quadratic then no longer grows with N."
    ),
    "ACP has no model here, so its intervals are those of a regression on the score alone.",
)


if __name__ == "__main__":
    main()
