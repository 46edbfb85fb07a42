import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibrant import Tally
from calibrant.credit import grade_tests
from calibrant.credit.grades import holm
from calibrant.errors import InvalidInputError

RECORDED = json.loads((Path(__file__).parents[1] / "decisions" / "peers.json").read_text(encoding="utf-8"))
GRADES = {"scores": [0.001, 0.01, 0.05, 0.2], "positives": [0, 9, 25, 50], "totals": [300, 500, 500, 250]}


def test_jeffreys_is_a_beta_distribution():
    result = grade_tests(Tally.from_dict(GRADES), test="jeffreys")
    k, n, p = (np.array(GRADES[name]) for name in ("positives", "totals", "scores"))
    assert result.p_values == pytest.approx(stats.beta.cdf(p, k + 0.5, n - k + 0.5))
    mean = n @ p / n.sum()
    assert result.portfolio_p_value == pytest.approx(stats.beta.cdf(mean, k.sum() + 0.5, n.sum() - k.sum() + 0.5))


def test_binomial_agrees_with_scipy():
    k, n, p = (GRADES[name] for name in ("positives", "totals", "scores"))
    one_sided = grade_tests(Tally.from_dict(GRADES)).p_values
    expected = [stats.binomtest(*grade, alternative="greater").pvalue for grade in zip(k, n, p, strict=True)]
    assert one_sided == pytest.approx(expected)
    both = grade_tests(Tally.from_dict(GRADES), test="binomial", alternative="two-sided").p_values
    less = [stats.binomtest(*grade, alternative="less").pvalue for grade in zip(k, n, p, strict=True)]
    assert both == pytest.approx(np.minimum(2 * np.minimum(expected, less), 1))


def test_two_sided_jeffreys_notices_too_few_defaults():
    tally = Tally.from_dict({"scores": [0.1], "positives": [50], "totals": [1000]})
    assert grade_tests(tally, test="jeffreys").p_values[0] > 0.99
    assert grade_tests(tally, test="jeffreys", alternative="two-sided").p_values[0] < 1e-6


def test_holm_agrees_with_statsmodels():
    recorded = RECORDED["holm"]
    assert holm(np.array(recorded["p_values"])) == pytest.approx(recorded["adjusted"])
    shuffled = [3, 0, 5, 1, 4, 2]
    p, adjusted = np.array(recorded["p_values"])[shuffled], np.array(recorded["adjusted"])[shuffled]
    assert holm(p) == pytest.approx(adjusted)


def test_the_overall_level_holds_over_all_grades():
    rng = np.random.default_rng(0)
    p, n = np.array([0.01, 0.03, 0.08, 0.2]), np.full(4, 400)
    failed = 0
    for _ in range(1000):
        tally = Tally.from_dict({"scores": p.tolist(), "positives": rng.binomial(n, p).tolist(), "totals": n.tolist()})
        failed += grade_tests(tally, test="binomial", alpha=0.1).rejected.any()
    assert failed <= 120


def test_the_table_marks_the_grades_that_fail():
    result = grade_tests(Tally.from_dict(GRADES), alpha=0.2, test="jeffreys")
    assert repr(result) == "GradeTests(4 grades, 1 fail, jeffreys test)"
    lines = str(result).splitlines()
    assert len(lines) == 6
    assert "portfolio: p = " in lines[-1]
    assert [("fails" in line) for line in lines[1:-1]] == result.rejected.tolist()


def test_refuses_scores_that_are_no_grades():
    p = np.linspace(0.01, 0.5, 300)
    with pytest.raises(InvalidInputError, match="master_scale"):
        grade_tests(np.arange(300) % 2, p)
    for options in ({"test": "chi2"}, {"alternative": "less"}, {"alpha": 0.0}):
        with pytest.raises(InvalidInputError):
            grade_tests([0, 1], [0.1, 0.2], **options)


@pytest.mark.parametrize(("rows", "pd"), [(100, 0.001), (500, 0.0002), (50, 0.02), (1000, 0.005)])
def test_the_level_of_the_default_is_at_most_alpha_and_that_of_jeffreys_is_not(rows, pd):
    defaults = np.arange(31.0)
    chance = stats.binom.pmf(defaults, rows, pd)
    level = {}
    for options in ({}, {"test": "jeffreys"}):
        tallies = [Tally.from_dict({"scores": [pd], "positives": [k], "totals": [rows]}) for k in defaults]
        rejected = [bool(grade_tests(tally, **options).rejected[0]) for tally in tallies]
        level[options.get("test", "default")] = chance @ rejected
    assert level["default"] <= 0.05 < 0.065 < level["jeffreys"]
