"""Several classifiers as one: trained together, each asked for its own scores."""
# ruff: noqa: N803 - X is how scikit-learn calls the features

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator

from calibrant.errors import InvalidInputError


class Models(BaseEstimator):
    """Classifiers by name.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB, GaussianNB
    >>> from calibrant.classifier.models import Models
    >>> Models([GaussianNB(), BernoulliNB()]).fit([[0.1], [0.9]], [0, 1]).classes_.tolist()
    [0, 1]
    """

    __metadata_request__fit = {"sample_weight": True}  # noqa: RUF012 - scikit-learn's word for "pass weights on"

    def __init__(self, models: Any) -> None:
        named = models if isinstance(models, Mapping) else {f"model_{i}": model for i, model in enumerate(models, 1)}
        if not named or not all(isinstance(name, str) and hasattr(one, "fit") for name, one in named.items()):
            raise InvalidInputError(
                f"`estimator` must be a classifier, or a dictionary of names to classifiers, or a list of them; "
                f"got {models!r}."
            )
        self.models = dict(named)

    def __sklearn_clone__(self) -> Models:
        return Models({name: clone(model) for name, model in self.models.items()})

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "classes_")

    @property
    def classes_(self) -> np.ndarray[Any, Any]:
        """The labels that any of them knows."""
        return np.unique(np.concatenate([np.asarray(model.classes_) for model in self.models.values()]))

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Train each of them; weights go to those that take them."""
        for model in self.models.values():
            takes = sample_weight is not None and "sample_weight" in signature(model.fit).parameters
            model.fit(X, y, **fit_params, **({"sample_weight": sample_weight} if takes else {}))
        return self


def as_one(estimator: Any) -> Any:
    """A classifier as it is; several as one."""
    return Models(estimator) if isinstance(estimator, Mapping | Sequence) else estimator


def is_frozen(estimator: Any) -> bool:
    """Whether a classifier, or each of several, is fitted for good."""
    models = estimator.models.values() if isinstance(estimator, Models) else [estimator]
    return all(isinstance(model, FrozenEstimator) for model in models)
