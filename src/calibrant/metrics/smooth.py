"""SmoothECE, a calibration error without bins."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from calibrant._kernels import smooth_ece
from calibrant._typing import ArrayLike
from calibrant._validation import check_choice
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import as_tally
from calibrant.tally import Tally

__all__ = ["smooth_calibration_error"]

CONVENTIONS = ("exact", "relplot", "relplot-1.0.1")


def smooth_calibration_error(
    y_true: ArrayLike | Tally,
    y_prob: ArrayLike | None = None,
    *,
    width: float | None = None,
    convention: str = "exact",
    sample_weight: ArrayLike | None = None,
    pos_label: Any = None,
) -> float:
    """Mean size of the residuals p − y after smoothing along p by a reflected Gaussian kernel (smECE).

    Unlike binned errors it changes continuously with the scores, and it stays within constant factors of the distance
    to the nearest calibrated predictor.

    Parameters
    ----------
    y_true : array-like of shape (n,) or Tally
        Labels; or a tally in place of all data.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    width : float, optional
        Standard deviation of the kernel, in [0.001, 1]. By default the width that equals the error.
    convention : {"exact", "relplot", "relplot-1.0.1"}
        How scores next to 0 and 1 are treated. "exact" follows the definition: what the kernel moves beyond an end is
        folded back, no mass is lost, and no value exceeds mean ``|p − y|``. The authors' package loses half of the mass
        at the ends: "relplot" repeats version 1.0.3, which divides by the density that is left and so can be far too
        high; "relplot-1.0.1" repeats the first versions, in which the published tables were made and which are too
        low. Away from the ends all three agree to three digits or so.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.
    pos_label : label, optional
        The positive class, where the labels are not bool, {0, 1} or {-1, 1}.

    Returns
    -------
    float

    References
    ----------
    Błasiok and Nakkiran 2024, "Smooth ECE: Principled Reliability Diagrams via Kernel Smoothing".

    Examples
    --------
    >>> from calibrant import metrics, simulate
    >>> data = simulate.from_truth("D1", 5000)
    >>> round(metrics.smooth_calibration_error(data.labels, data.scores), 3)
    0.127
    >>> round(metrics.smooth_calibration_error(data.labels, data.scores, convention="relplot"), 3)
    0.156
    """
    check_choice("convention", convention, CONVENTIONS)
    if width is not None and not smooth_ece.SMALLEST_WIDTH <= width <= 1.0:
        raise InvalidInputError(f"`width` must lie in [{smooth_ece.SMALLEST_WIDTH:g}, 1]; got {width!r}.")
    tally = as_tally(y_true, y_prob, sample_weight, pos_label)
    prefix = smooth_ece.Prefix(tally.scores, tally.positives, tally.totals)
    if convention == "exact":
        spectrum = smooth_ece.Spectrum(prefix)
        return spectrum.error_at(spectrum.fixed_point() if width is None else width)
    if convention == "relplot":
        error: Callable[[float], float] = partial(smooth_ece.relplot_error, prefix)
    else:
        error = smooth_ece.FirstRelplot(prefix)
    return error(smooth_ece.relplot_width(error) if width is None else width)
