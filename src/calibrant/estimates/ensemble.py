"""Answers from several calibrated models whose probabilities are averaged, such as those of cross-fitting."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from calibrant._typing import Floats, HasPosterior
from calibrant.estimates import rows
from calibrant.estimates.estimation import Estimate, estimate

CHUNK_ROWS = 1 << 14  # whose draws are held at once


def estimate_ensemble(
    members: Sequence[tuple[HasPosterior, Floats]], probabilities: Floats, quantity: str = "mean", **options: Any
) -> Estimate:
    """Say something about unlabelled rows that several models score, each with a posterior over its own map.

    What is judged are the averaged probabilities. Every possible world is a draw of one model's map; the models give
    equal shares of the worlds, so the interval also covers how much they differ.

    Parameters
    ----------
    members : sequence of (model, scores)
        Each model with its own scores of the rows, (n,).
    probabilities : ndarray of shape (n,)
        The averaged probabilities of the rows.
    quantity, **options
        As for `estimate`.

    Returns
    -------
    Estimate

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant import ABB
    >>> from calibrant.estimates.ensemble import estimate_ensemble
    >>> scores = np.linspace(0.0, 1.0, 50)
    >>> models = [ABB().fit(scores, scores > cut) for cut in (0.4, 0.6)]
    >>> averaged = np.mean([model.predict(scores) for model in models], axis=0)
    >>> answer = estimate_ensemble([(model, scores) for model in models], averaged)
    >>> round(answer.value, 1)
    0.5
    """
    for model, _ in members:
        rows.check_posterior(model)
    return estimate(_Ensemble(members), probabilities, quantity, **options)


class _Ensemble(NamedTuple):
    """A model of rows that are given by their averaged probabilities."""

    members: Sequence[tuple[HasPosterior, Floats]]

    def predict(self, probabilities: Any) -> Floats:
        return np.asarray(probabilities)

    def outside(self, probabilities: Floats) -> tuple[float | None, str]:  # noqa: ARG002 - rows have scores of each
        """The largest share of rows outside the labelled range of a member, and its warning."""
        found = (rows.outside(model, rows.count_scores(scores)) for model, scores in self.members)
        return max(found, key=lambda pair: pair[0] or 0.0)

    def draw_chunks(self, probabilities: Floats, n_draws: int, seed: int) -> Iterator[Floats]:
        """The mean of the fitted maps, then draws of each, in chunks of rows; rows of like scores are drawn as one."""
        rng, each = np.random.default_rng(seed), -(-n_draws // len(self.members))
        drawn = []
        for model, scores in self.members:
            group, at = rows.alike(scores)
            drawn.append((group, *rows.draw_levelled_maps(model, at, each, rng)))
        for start in range(0, len(probabilities), CHUNK_ROWS):
            part = slice(start, start + CHUNK_ROWS)
            fitted = np.mean([own[group[part]] for group, own, _ in drawn], axis=0)
            yield np.vstack((fitted, *(maps[:, group[part]] for group, _, maps in drawn)))
