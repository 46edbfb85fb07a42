"""estimate: what a saved model says of rows without labels."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.options import load_model
from calibrant.cli.printing import print_json, print_table, progress, warn

if TYPE_CHECKING:
    from calibrant.estimates.results import Estimate
    from calibrant.maps.score import CalibrationMap
    from calibrant.tally import Tally

WHAT = "What to estimate, a,b,c: mean, positives, accuracy, precision, recall, specificity, f1, auc, …; by default all."
THRESHOLD = "Rows from this probability on are called positive."
AGAINST = "A second table; estimate the difference, the first minus this one."
OF = "Whose quality: that of the calibrated probabilities, or of the scores as they came."
PRIOR = "Estimate the share of positives where it alone has changed since the fit."


def estimate(
    model: options.Model,
    files: options.Files,
    *,
    score: options.Score = None,
    weight: options.Weight = None,
    what: Annotated[list[str] | None, options.option(WHAT, "--what", value="NAME")] = None,
    threshold: Annotated[float, options.option(THRESHOLD, "--threshold", value="P")] = 0.5,
    of: Annotated[str, options.option(OF, "--of", value="probabilities|scores")] = "probabilities",
    against: Annotated[str | None, options.option(AGAINST, "--against", value="FILE")] = None,
    prior: Annotated[bool, options.option(PRIOR, "--prior")] = False,
    level: options.Level = 0.9,
    as_json: options.As_json = False,
) -> None:
    """Estimate how often it happens, and how good the model is, on rows without labels; with intervals."""
    from calibrant.cli.columns import split
    from calibrant.cli.tallies import count_unlabelled
    from calibrant.engines.table_files import suggest
    from calibrant.estimates import QUANTITIES, estimate_difference, estimate_several

    names = split(what or []) or tuple(QUANTITIES)
    for name in names:
        if name not in QUANTITIES:
            raise Problem(f"--what has no {name!r}. {suggest(name, QUANTITIES, 'It has ' + ', '.join(QUANTITIES))}")
    map_ = load_posterior(model)
    tally = count_unlabelled(files, score, weight)
    if prior:
        _print_prior(map_, tally, level, as_json)
        return
    if against is not None:
        other = count_unlabelled([against], score, weight)
        with progress("estimating"):
            answers = [
                estimate_difference(
                    map_, tally, other, name, threshold=_threshold(name, threshold), level=level, target=of
                )
                for name in names
            ]
        _print([answer.to_dict() for answer in answers], as_json, "Difference, the first minus the second", level)
        return
    deciding = any(_threshold(name, threshold) is not None for name in names)
    with progress("estimating"):
        found = estimate_several(map_, tally, names, threshold=threshold if deciding else None, level=level, target=of)
    _print([answer.to_dict() for answer in found.values()], as_json, _title(next(iter(found.values()))), level)


def load_posterior(path: str) -> CalibrationMap:
    """Load a model that was saved with its posterior."""
    from calibrant.maps.matrix import MatrixMap

    map_ = load_model(path)
    if isinstance(map_, MatrixMap):
        raise Problem(f"{path} is a model of {len(map_.classes)} classes; estimates are for two.")
    if not map_.has_posterior:
        raise Problem(
            f"{path} has no posterior, so it cannot say how sure it is; fit a Bayesian method, such as the default, "
            "with `calibrant fit`."
        )
    return map_


def _threshold(name: str, threshold: float) -> float | None:
    from calibrant.estimates.quantities import find_quantity

    return threshold if find_quantity(name).decides else None


def _title(answer: Estimate) -> str:
    from calibrant.tally import row_count

    return f"{row_count(answer.rows)} rows without labels"


def _print(answers: list[dict[str, object]], as_json: bool, title: str, level: float) -> None:
    from calibrant.estimates.quantities import QUANTITIES

    if as_json:
        print_json({"estimates": answers})
        return
    head = ["", "estimate", f"from ({100 * level:g} %)", "to"]
    rows = []
    for answer in answers:
        digits = 0 if answer["quantity"] == "positives" else 4
        numbers = [f"{answer[key]:.{digits}f}" for key in ("value", "low", "high")]
        rows.append([QUANTITIES[str(answer["quantity"])].title, *numbers])
        if "first_higher" in answer:
            rows[-1].append(f"{answer['first_higher']:.3f}")
    if "first_higher" in answers[0]:
        head.append("P(first is higher)")
    print_table(title, head, rows)
    for warning in dict.fromkeys(str(answer["warning"]) for answer in answers if answer["warning"]):
        warn(warning)


def _print_prior(map_: CalibrationMap, tally: Tally, level: float, as_json: bool) -> None:
    from calibrant.adjust.unknown_prior import estimate_prior

    with progress("estimating"):
        answer = estimate_prior(map_, tally, level=level)
    if as_json:
        print_json(answer.to_dict())
        return
    sys.stdout.write(f"{str(answer).splitlines()[0]}\n")
    if answer.warning:
        warn(answer.warning)
