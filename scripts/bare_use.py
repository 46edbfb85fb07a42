"""What must work without extras; scripts/bare runs it, in an environment with nothing but calibrant.

The argument says how the kernels were installed: `compiled`, or `plain` where there was no compiler.
"""

import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import calibrant
from calibrant.calibrators import registry

SLOW = "installed without being compiled"


def fit_every_method(scores, labels):
    for name in registry.names():
        probabilities = registry.create(name).fit(scores, labels).predict(scores)
        assert np.all((probabilities >= 0.0) & (probabilities <= 1.0)), name
    return len(registry.names())


def save_and_load(calibrator, scores):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "map.json"
        calibrator.save(path)
        assert np.array_equal(calibrant.load(path)(scores), calibrator.predict(scores))


def name_what_is_missing():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        path.write_text("score,label\n0.2,0\n0.7,1\n", encoding="utf-8")
        try:
            calibrant.engines.tally(path, score="score", label="label")
        except calibrant.errors.MissingExtraError as error:
            return str(error)
    raise AssertionError("a missing extra must be named")


def main(kernels):
    rng = np.random.default_rng(0)
    scores = rng.random(200)
    labels = rng.random(200) < scores**2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        blend = calibrant.Blend().fit(scores, labels)
        print(fit_every_method(scores, labels), "methods fitted")
    told = [str(warning.message) for warning in caught]
    assert len(told) == (kernels == "plain"), told
    assert all(SLOW in message for message in told), told
    print(*told, sep="\n", end="\n" if told else "")
    save_and_load(blend, scores)
    before, after = (calibrant.evaluate(labels, p)["log_loss"].value for p in (scores, blend.predict(scores)))
    assert after < before
    print(f"log-loss {before:.4f} before, {after:.4f} after")
    print(name_what_is_missing())


if __name__ == "__main__":
    main(sys.argv[1])
