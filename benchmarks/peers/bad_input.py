"""What each library does with input that it cannot use, or that needs care.

    python -m benchmarks.peers.bad_input [--markdown]

`error`: a ValueError or TypeError. `crash`: any other exception, from somewhere inside. Everything else is an answer:
`NaN`, `outside` [0, 1], or `number`, which looks like any other probability; for labels that only look unusual,
`right` (as with 0 and 1) or `wrong`. `*` marks an answer that came with a warning. `fine`: the method takes any real
score, and 1.5 is one.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import signal
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.peers.calibrators import CALIBRATORS, Adapter, missing

ROWS = 80
ANY_REAL = {"calibrant isotonic", "scikit-learn isotonic", "scikit-learn sigmoid"}
SECONDS = 120
GRID = np.linspace(0.05, 0.95, 19)
Data = tuple[Any, Any, Any]


def plain() -> Data:
    """Sound scores and labels, and scores to predict."""
    rng = np.random.default_rng(0)
    s = np.round(rng.random(ROWS), 3)
    return s, (rng.random(ROWS) < s).astype(int), GRID


def _with(array: np.ndarray, value: float) -> np.ndarray:
    out = array.astype(float)
    out[3] = value
    return out


def _scores(change: Callable[[np.ndarray], Any]) -> Data:
    s, y, new = plain()
    return change(s), y, new


def _labels(change: Callable[[np.ndarray], Any]) -> Data:
    s, y, new = plain()
    return s, change(y), new


def _asked(value: float) -> Data:
    s, y, _ = plain()
    return s, y, np.array([0.2, 0.8, 0.5, value])


#: what is wrong, and whether the answer of `plain` would be the right one
CASES: dict[str, tuple[Callable[[], Data], bool]] = {
    "NaN score": (lambda: _scores(lambda s: _with(s, np.nan)), False),
    "infinite score": (lambda: _scores(lambda s: _with(s, np.inf)), False),
    "score 1.5": (lambda: _scores(lambda s: _with(s, 1.5)), False),
    "text scores": (lambda: _scores(lambda s: np.where(s > 0.5, "high", "low")), False),
    "no rows": (lambda: (np.empty(0), np.empty(0, dtype=int), GRID), False),
    "lengths differ": (lambda: _labels(lambda y: y[:-1]), False),
    "one class": (lambda: _labels(np.ones_like), False),
    "NaN label": (lambda: _labels(lambda y: _with(y, np.nan)), False),
    "three classes": (lambda: _labels(lambda y: np.where(np.arange(ROWS) == 3, 2, y)), False),
    "labels −1, 1": (lambda: _labels(lambda y: 2 * y - 1), True),
    "labels no, yes": (lambda: _labels(lambda y: np.where(y == 1, "yes", "no")), True),
    "predict NaN": (lambda: _asked(np.nan), False),
    "predict 1.5": (lambda: _asked(1.5), False),
}


class TooSlowError(Exception):
    """The time is up."""


@contextlib.contextmanager
def _limited(seconds: int) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlowError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(adapter: Adapter, data: Data, right: np.ndarray | None) -> str:
    """One word for what happens."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with _limited(SECONDS):
                answer = np.asarray(adapter(*data), dtype=float).ravel()
        except (ValueError, TypeError):
            return "error"
        except TooSlowError:
            return "hangs"
        except Exception as error:
            return f"crash: {type(error).__name__}"
    return _kind(answer, right) + ("*" if _told(caught) else "")


def _kind(answer: np.ndarray, right: np.ndarray | None) -> str:
    if np.isnan(answer).any():
        return "NaN"
    if answer.min(initial=0.0) < 0.0 or answer.max(initial=0.0) > 1.0:
        return "outside"
    if right is None:
        return "number"
    return "right" if answer.shape == right.shape and np.allclose(answer, right, atol=1e-3) else "wrong"


def _told(caught: list[warnings.WarningMessage]) -> bool:
    """Whether the user was warned; notices for programmers do not count."""
    return any(not issubclass(w.category, DeprecationWarning | FutureWarning) for w in caught)


def table() -> Iterator[tuple[str, list[str] | str]]:
    """The outcomes of each library, or why it was skipped."""
    for name, adapter in CALIBRATORS.items():
        with _silence():
            reason = missing(adapter)
            if reason is None:
                sound = np.asarray(adapter(*plain()), dtype=float).ravel()
                found = [outcome(adapter, make(), sound if same else None) for make, same in CASES.values()]
                if name in ANY_REAL:
                    found = ["fine" if case.endswith("1.5") else cell for case, cell in zip(CASES, found, strict=True)]
        yield name, found if reason is None else f"skipped: {reason}"


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    out, err = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with out, err, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true")
    markdown = parser.parse_args().markdown
    print(f"| library | {' | '.join(CASES)} | silent |" if markdown else ", ".join(CASES))
    if markdown:
        print("|---" * (len(CASES) + 2) + "|")
    for name, found in table():
        if isinstance(found, str):
            print(f"{name} {found}")
            continue
        # An answer without a warning that is not the right one; one class has an answer, so it is not counted.
        silent = sum(
            cell in ("NaN", "outside", "number", "wrong")
            for case, cell in zip(CASES, found, strict=True)
            if case != "one class"
        )
        print(f"| {name} | {' | '.join(found)} | {silent} |" if markdown else f"{name:<24} {found} silent {silent}")


if __name__ == "__main__":
    main()
