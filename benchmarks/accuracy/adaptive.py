"""The adaptive calibrator on simulated streams: coverage, recovery after a jump, and false promotions.

`python -m benchmarks.accuracy.adaptive coverage --series 8 [--first 5000]` and `… promotions --series 400`.
"""

import argparse
import warnings

import numpy as np
from scipy.special import expit

from calibrant import Blend, CalibrationMap, Tally
from calibrant.maps.functions import Identity
from calibrant.monitoring import AdaptiveCalibrator, CalibrationMonitor

PERIODS, ROWS, REFERENCE, CHANGE = 40, 300, 1000, 20
TRUTHS = {
    "none": lambda z, _: 0.2 + 0.8 * z,
    "jump": lambda z, t: 0.2 + 0.8 * z + (t >= CHANGE),
    "slow": lambda z, t: 0.2 + 0.8 * z + 1.2 * t / PERIODS,
    "slope": lambda z, t: 0.2 + (0.8 + 0.6 * (t >= CHANGE)) * z,
    "seasonal": lambda z, t: 0.2 + 0.8 * z + 0.6 * np.sin(2 * np.pi * t / 12),
    "local": lambda z, t: 0.2 + 0.8 * z + (t >= CHANGE) * np.exp(-0.5 * ((z + 0.5) / 0.5) ** 2),
    "rare": lambda z, t: -3.3 + 0.8 * z + (t >= CHANGE),
    "jump, labels three periods late": lambda z, t: 0.2 + 0.8 * z + (t >= CHANGE),
}
AT_ONCE = ("slow", "seasonal")  # change from the first period on, of which no label can tell


def sample(rng, truth, period, n):
    z = rng.normal(-0.5, 1.2, n)
    p = expit(truth(z, period))
    return expit(z), rng.random(n) < p, p


def run(name, seed):
    """Coverage, and excess loss of adaptive and static, in each period."""
    rng, truth = np.random.default_rng([seed, *map(ord, name)]), TRUTHS[name]
    delay = 3 * ("late" in name)
    adaptive = AdaptiveCalibrator(Blend().fit(*sample(rng, truth, 0, REFERENCE)[:2]), delay=delay)
    out, unseen = [], []
    for period in range(1, PERIODS):
        scores, labels, p = sample(rng, truth, period, ROWS)
        low, high = adaptive.predict_interval(scores)
        excess = [_divergence(p, q) for q in (adaptive.predict(scores), adaptive.reference(scores))]
        out.append((np.mean((low <= p) & (p <= high)), *excess))
        unseen.append((scores, labels))
        if len(unseen) > delay:
            adaptive = adaptive.updated(*unseen.pop(0))
    return out


def _divergence(p, q):
    return np.mean(p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))


def coverage(series, first=0):
    """By time: in the first periods, before a change, before a label shows it, in the periods after that, and later."""
    for name in TRUTHS:
        runs = np.array([run(name, seed) for seed in range(first, first + series)])
        covered, adaptive, static = runs.mean(axis=0).T
        changed, shown = runs[:, CHANGE - 1 :], CHANGE + 3 * ("late" in name)
        recovered = (changed[:, :, 1] < 0.1 * changed[:, :, 2].mean(axis=1, keepdims=True)).argmax(axis=1).mean()
        unseen, begin = (slice(0, 1), 1) if name in AT_ONCE else (slice(CHANGE - 1, shown), 0)
        spans = {
            f"{begin + 1}-5": slice(begin, 5),
            "6-10": slice(5, 10),
            f"11-{CHANGE - 1}": slice(10, CHANGE - 1),
            "not yet shown": unseen,
            **{f"shown {k + 1}": slice(shown + k, shown + k + 1) for k in range(3)},
            "4-8": slice(shown + 3, shown + 8),
            "later": slice(shown + 8, None),
        }
        by_time = ", ".join(f"{span} {covered[where].mean():.3f}" for span, where in spans.items())
        print(
            f"{name:<32} coverage {covered.mean():.3f}: {by_time}; excess {1e3 * adaptive.mean():.2f}, "
            f"static {1e3 * static.mean():.2f}; below a tenth of it after {recovered:.1f} periods",
            flush=True,
        )


def promotions(series, method, periods=12, rows=200):
    """Series in which an exactly right reference is replaced; shared shocks leave it right on average over periods."""
    reference = CalibrationMap(Identity(), "probability", True)
    grid, weights = np.polynomial.hermite_e.hermegauss(31)
    counts = dict.fromkeys(
        ("independent", "shocks, clustered", "shocks, not clustered", "monitor, shocks, clustered"), 0
    )
    for seed in range(series):
        rng = np.random.default_rng(seed)
        states = {
            name: AdaptiveCalibrator(reference, method=method, clustered="not" not in name and "shocks" in name)
            for name in counts
        }
        states["monitor, shocks, clustered"] = CalibrationMonitor(clustered=True)
        for _ in range(periods):
            z = rng.normal(-0.5, 1.2, rows)
            right = expit(z + grid[:, None]).T @ (weights / weights.sum())  # the mean over shocks
            calm = Tally.from_arrays(right, rng.random(rows) < right)
            shocked = Tally.from_arrays(right, rng.random(rows) < expit(z + rng.normal()))
            states = {name: old.updated(calm if name == "independent" else shocked) for name, old in states.items()}
        for name, state in states.items():
            counts[name] += bool(state.alarms()) if "monitor" in name else state.promote()
        if (seed + 1) % 20 == 0:
            print(seed + 1, counts, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["coverage", "promotions"])
    parser.add_argument("--series", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first series, of coverage")
    parser.add_argument("--method", default="spline", help="of the refits; the promise holds for all, platt is fast")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # shared outcomes are there on purpose
    if options.what == "coverage":
        coverage(options.series, options.first)
    else:
        promotions(options.series, options.method)


if __name__ == "__main__":
    main()
