"""Measures of rows: a function of a tally or of a sample is called with labels and probabilities, too."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from calibrant.metrics import samples
from calibrant.metrics.samples import ClassSample, Column, Labels, Sample, ScoreSample
from calibrant.tally import Tally

Options = ParamSpec("Options")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class RowMeasure(Protocol[Options, Result_co]):
    """What users call: with rows, or with the tally or sample that holds them."""

    __name__: str

    @overload
    def __call__(self, y_true: Tally | Sample, /, *args: Options.args, **options: Options.kwargs) -> Result_co: ...
    @overload
    def __call__(
        self, y_true: Labels, y_prob: Column, *, sample_weight: Column = ..., pos_label: Any = ..., **options: Any
    ) -> Result_co: ...


def of_tally(function: Callable[Concatenate[Tally, Options], Result]) -> RowMeasure[Options, Result]:
    """The function of a tally as one of `y_true`, `y_prob`, `sample_weight` and `pos_label`."""
    return _reading(samples.as_tally, function, "sample_weight", "pos_label")


def of_sample(function: Callable[Concatenate[ScoreSample, Options], Result]) -> RowMeasure[Options, Result]:
    """The function of a sample as one of the same and of `groups`."""
    return _reading(samples.read_sample, function, "sample_weight", "pos_label", "groups")


def of_classes(function: Callable[Concatenate[ClassSample, Options], Result]) -> RowMeasure[Options, Result]:
    """The function of a sample of several classes as one of `y_true`, `y_prob`, a matrix, and `sample_weight`."""
    return _reading(samples.read_classes, function, "sample_weight")


def _reading(read: Callable[..., Any], function: Callable[..., Any], *beside: str) -> Any:
    """The function behind its reader, which takes the rows and what is named beside them."""

    @wraps(function)
    def measure(y_true: Labels, y_prob: Column = None, **given: Any) -> Any:
        columns = {name: given.pop(name, None) for name in beside}
        return function(read(y_true, y_prob, **columns), **given)

    own, rows = signature(function), list(signature(measure, follow_wrapped=False).parameters.values())[:2]
    by_name = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in beside]
    parameters = sorted([*rows, *list(own.parameters.values())[1:], *by_name], key=lambda one: one.kind)
    vars(measure)["__signature__"] = Signature(parameters, return_annotation=own.return_annotation)
    return measure
