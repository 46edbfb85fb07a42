"""What the papers' experiments share: where the data lie, scores of models, and ours printed beside theirs."""

from __future__ import annotations

import argparse
import os
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit

__all__ = ["beside", "deviations", "header", "parser", "raw_data", "scores"]

NEIGHBOUR = Path(__file__).resolve().parents[3] / "shared" / "data"


def parser(command: str, description: str) -> argparse.ArgumentParser:
    """A parser of command lines with the one option that all tables have, the folder of data."""
    out = argparse.ArgumentParser(prog=f"python -m benchmarks.papers.{command}", description=description)
    folder = os.environ.get("CALIBRANT_DATA", NEIGHBOUR)
    out.add_argument("--data", type=Path, default=Path(folder), help="folder with raw/ (default: CALIBRANT_DATA)")
    return out


def raw_data(folder: Path, name: str) -> Path | None:
    """The path of a raw data file, or None after saying that its part of the table is skipped."""
    path = folder / "raw" / name
    if path.exists():
        return path
    print(f"\nSkipped: {path} does not exist; give its folder with --data.")
    return None


def scores(model: Any, X: np.ndarray) -> np.ndarray:
    """A fitted model's probabilities of the positive class, or the sigmoid of its decision scores."""
    if hasattr(model, "predict_proba"):
        return model.predict_proba(X)[:, 1]
    return expit(model.decision_function(X))


def header(columns: Iterable[str], first: str = "", width: int = 15, label: int = 14) -> None:
    """Print the names of the columns."""
    print(f"{first:<{label}}" + "".join(f"{name:>{width}}" for name in columns))


def beside(
    name: str,
    ours: Sequence[float | None],
    paper: Sequence[float | None],
    digits: int = 3,
    width: int = 15,
    label: int = 14,
) -> None:
    """Print a row of ours with the published figures in brackets; a dash where one of the two has none."""
    texts = (f"{_number(mine, digits)} ({_number(theirs, digits)})" for mine, theirs in zip(ours, paper, strict=True))
    print(f"{name:<{label}}" + "".join(f"{text:>{width}}" for text in texts))


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def deviations(lines: Iterable[str]) -> None:
    """Print in what ours differs from the paper's experiment."""
    print("\nDeviations from the paper, and what it leaves open:")
    for line in lines:
        print(textwrap.fill(line, 116, initial_indent="  - ", subsequent_indent="    "))
