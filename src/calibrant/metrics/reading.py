"""Measures of rows: a function of a tally or of a sample is called with labels and probabilities, too."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from calibrant.metrics.samples import Column, Labels, ScoreSample, as_tally, read_sample
from calibrant.tally import Tally

Options = ParamSpec("Options")
Result = TypeVar("Result")
Result_co = TypeVar("Result_co", covariant=True)


class RowMeasure(Protocol[Options, Result_co]):
    """What users call: with rows, or with the tally or sample that holds them."""

    __name__: str

    @overload
    def __call__(self, y_true: Tally | ScoreSample, /, *args: Options.args, **options: Options.kwargs) -> Result_co: ...
    @overload
    def __call__(
        self, y_true: Labels, y_prob: Column, *, sample_weight: Column = ..., pos_label: Any = ..., **options: Any
    ) -> Result_co: ...


def of_tally(function: Callable[Concatenate[Tally, Options], Result]) -> RowMeasure[Options, Result]:
    """The function of a tally as one of `y_true`, `y_prob`, `sample_weight` and `pos_label`."""
    return _reading(as_tally, function)


def of_sample(function: Callable[Concatenate[ScoreSample, Options], Result]) -> RowMeasure[Options, Result]:
    """The function of a sample as one of the same and of `groups`."""
    return _reading(read_sample, function)


def _reading(read: Callable[..., Any], function: Callable[..., Any]) -> Any:
    """The function behind its reader, whose positional parameters it takes; all but the first two by name."""
    y_true, y_prob, *beside = (p for p in signature(read).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD)
    _, *options = signature(function).parameters.values()

    @wraps(function)
    def measure(y_true: Any, y_prob: Any = None, **given: Any) -> Any:
        columns = {parameter.name: given.pop(parameter.name, None) for parameter in beside}
        return function(read(y_true, y_prob, **columns), **given)

    by_name = (parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in beside)
    returns = signature(function).return_annotation
    vars(measure)["__signature__"] = Signature([y_true, y_prob, *options, *by_name], return_annotation=returns)
    return measure
