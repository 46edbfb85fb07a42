"""The audit of intervals, levels and rules; docs/explanation/coverage.md is made from it."""

from __future__ import annotations

from typing import NamedTuple


class Row(NamedTuple):
    """One cell of the audit: how often an interval held the truth, and its mean width."""

    finding: str
    cell: str
    runs: int
    coverage: float
    width: float
