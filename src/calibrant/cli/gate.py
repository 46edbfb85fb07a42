"""gate: from which score rows can be accepted without being looked at."""

from __future__ import annotations

import sys
from typing import Annotated, Any

from calibrant.cli import options
from calibrant.cli.errors import Refusal
from calibrant.cli.printing import print_json, progress
from calibrant.cli.problems import MOST_SEGMENTS, Problem, read_unlabelled

PRECISION = "The wanted share of right rows among accepted ones, such as 0.95."
BUDGET = "In place of --precision: how many rows people can look at, as a share below 1 or a number."
CONFIDENCE = "The probability with which the precision is kept."
GUARANTEE = "finite_sample, which holds for every truth; or posterior, which accepts more and assumes more."
UNLABELLED = "Rows without labels, with the same score column, for which the gate is meant."


@options.reads_rows("weight", "by", "space", "top_label")
def gate(
    rows: options.RowOptions,
    *,
    precision: Annotated[float | None, options.option(PRECISION, "--precision", "-p", value="SHARE")] = None,
    budget: Annotated[float | None, options.option(BUDGET, "--budget", value="ROWS")] = None,
    confidence: Annotated[float, options.option(CONFIDENCE, "--confidence", value="LEVEL")] = 0.9,
    guarantee: Annotated[str, options.option(GUARANTEE, "--guarantee", value="WHAT")] = "finite_sample",
    unlabelled: Annotated[str | None, options.option(UNLABELLED, "--unlabelled", value="FILE")] = None,
    as_json: options.As_json = False,
) -> None:
    """Find the lowest score from which accepted rows keep a precision, and say how many pass.

    With --by a gate for each segment, all of which keep it at once; with the scores of several classes, of the top one.
    """
    problem = rows.read(most_segments=MOST_SEGMENTS)
    problem.check_probabilities()
    promise: dict[str, Any] = {"precision": precision, "confidence": confidence, "guarantee": guarantee}
    with progress("finding the gate"):
        if problem.segments:
            if precision is None or unlabelled is not None:
                raise Refusal("A gate for each segment needs --precision, and takes neither --budget nor --unlabelled.")
            found = _gate_segments(problem, promise)
        else:
            target = None if unlabelled is None else read_unlabelled([unlabelled], list(problem.columns.scores))
            found = _gate_rows(problem, promise | {"budget": budget, "unlabelled": target})
    if as_json:
        print_json(found.to_dict())
    else:
        sys.stdout.write(f"{found}\n")


def _gate_rows(problem: Problem, asked: dict[str, Any]) -> Any:
    from calibrant import Blend
    from calibrant.decisions import acceptance

    if problem.shape == "matrix":
        scores, labels, weights, _ = problem.rows
        return acceptance(labels, scores, sample_weight=weights, space=problem.space, **asked)
    blend = Blend(space=problem.space).fit_tally(problem.tally)  # names the calibrated probability beside the score
    return acceptance(problem.tally, calibrator=blend, space=problem.space, **asked)


def _gate_segments(problem: Problem, promise: dict[str, Any]) -> Any:
    from calibrant.decisions import acceptance_by_segment

    single = len(problem.columns.by) == 1
    return acceptance_by_segment(
        {segment[0] if single else segment: tally for segment, tally in problem.segments.items()}, **promise
    )
