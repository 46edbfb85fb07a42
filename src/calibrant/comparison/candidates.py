"""The methods of a comparison: names and calibrators mixed, told what kind of scores they will see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from calibrant import _validation
from calibrant.calibrators import registry
from calibrant.calibrators.base import Calibrator
from calibrant.errors import InvalidInputError
from calibrant.metrics.base import number_repeated
from calibrant.tally import Tally

__all__ = [
    "DECISION_SCORES",
    "RAW",
    "Methods",
    "are_probabilities",
    "create",
    "name_candidates",
    "title_of",
]

RAW = "identity"
DECISION_SCORES = "Some scores lie outside [0, 1], so all are taken as decision scores."

Methods: TypeAlias = Iterable[str | Calibrator] | Mapping[str, Calibrator]


def are_probabilities(tally: Tally) -> bool:
    """Whether all scores lie in [0, 1]; others are taken as decision scores wherever methods are compared or shown."""
    return _validation.are_probabilities(tally.scores)


def create(name: str, *, probabilities: bool) -> Calibrator:
    """A new calibrator of a registered method, told if the scores are not probabilities and it can be told.

    Examples
    --------
    >>> from calibrant.comparison.candidates import create
    >>> create("platt", probabilities=False)
    PlattScaling(space='decision')
    """
    calibrator = registry.create(name)
    if not probabilities and "space" in calibrator.get_params():
        calibrator.set_params(space="decision")
    return calibrator


def name_candidates(methods: Methods | str | None, *, probabilities: bool) -> dict[str, Calibrator]:
    """The calibrators by name, the raw score first; objects are named by their method or else by their class."""
    if isinstance(methods, Mapping):
        named = {str(name): calibrator for name, calibrator in methods.items()}
    else:
        given = [methods] if isinstance(methods, str | Calibrator) else list(methods or registry.names())
        # A name that is given twice is one method; two objects of one class may differ in their options.
        given = [one for place, one in enumerate(given) if not isinstance(one, str) or one not in given[:place]]
        names = number_repeated(one if isinstance(one, str) else _name_of(one) for one in given)
        named = {
            name: create(one, probabilities=probabilities) if isinstance(one, str) else one
            for name, one in zip(names, given, strict=True)
        }
    raw = named.pop(RAW, None) or create(RAW, probabilities=probabilities)
    return {RAW: raw} | named


def title_of(calibrator: Calibrator, name: str) -> str:
    """The title of a method in words, a fact of its class; else its name."""
    return str(getattr(type(calibrator), "title", "") or name.replace("_", " "))


def _name_of(calibrator: Calibrator) -> str:
    if not hasattr(calibrator, "fit_tally"):
        raise InvalidInputError(f"`methods` must be names of methods or calibrators; got {calibrator!r}.")
    return registry.name_of(calibrator)
