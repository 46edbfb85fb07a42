"""The audit: its parts run, and the page of coverage says what was recorded."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # benchmarks are not installed

from benchmarks.audit import Row, measures  # noqa: E402
from benchmarks.audit.__main__ import PARTS, read, write  # noqa: E402
from benchmarks.audit.page import PAGE, SECTIONS, render  # noqa: E402

RECORDED = ROOT / "benchmarks" / "audit" / "recorded.csv"


def test_the_page_of_coverage_is_made_from_the_record():
    rows = read(RECORDED)
    assert {row.finding for row in rows} == set(SECTIONS)
    assert PAGE.read_text(encoding="utf-8") == render(rows), "python -m benchmarks.audit --page CSV writes it again"


def test_a_record_is_written_as_it_is_read(tmp_path):
    rows = [*measures.equivalence(1, 0), *measures.cutoff(2, 0)]
    write(rows, tmp_path / "rows.csv")
    again = read(tmp_path / "rows.csv")
    assert [row[:3] for row in again] == [row[:3] for row in rows]
    assert all(abs(a.coverage - b.coverage) <= 5e-4 for a, b in zip(again, rows, strict=True))


def test_lines_that_are_measured_again_replace_those_of_a_record(tmp_path):
    first = [Row("F7", "a", 10, 0.5, 1.0), Row("F8", "b", 10, 0.6, 1.0)]
    write(first, tmp_path / "rows.csv")
    write([Row("F8", "b", 300, 0.9, 2.0)], tmp_path / "rows.csv")
    assert read(tmp_path / "rows.csv") == [first[0], Row("F8", "b", 300, 0.9, 2.0)]


def test_every_part_says_which_findings_it_measures():
    assert {finding for findings, _ in PARTS for finding in findings.split()} == set(SECTIONS)
