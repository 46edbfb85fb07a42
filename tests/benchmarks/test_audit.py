"""The audit: its parts run, and the page of coverage says what was recorded."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.audit import measures  # noqa: E402
from benchmarks.audit.__main__ import read, write  # noqa: E402
from benchmarks.audit.page import PAGE, SECTIONS, render  # noqa: E402

RECORDED = ROOT / "benchmarks" / "audit" / "recorded.csv"


def test_the_page_of_coverage_is_made_from_the_record():
    rows = read(RECORDED)
    assert {row.finding for row in rows} == set(SECTIONS)
    assert PAGE.read_text(encoding="utf-8") == render(rows), "python -m benchmarks.audit --page CSV writes it again"


def test_a_record_is_written_as_it_is_read(tmp_path):
    rows = [*measures.grades(1, 0), *measures.cutoff(2, 0)]
    write(rows, tmp_path / "rows.csv")
    again = read(tmp_path / "rows.csv")
    assert [row[:3] for row in again] == [row[:3] for row in rows]
    assert all(abs(a.coverage - b.coverage) <= 5e-4 for a, b in zip(again, rows, strict=True))
