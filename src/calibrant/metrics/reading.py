"""Measures of rows: a function of a tally or of a sample is called with labels and probabilities, too."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from calibrant.metrics import samples
from calibrant.metrics.samples import Column, Labels, Sample
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


def reading(
    read: Callable[..., Any], *beside: str
) -> Callable[[Callable[Concatenate[Any, Options], Result]], RowMeasure[Options, Result]]:
    """What makes of a function of what `read` reads one of the rows, and of what is named beside them."""

    def decorate(function: Any) -> Any:
        @wraps(function)
        def measure(y_true: Labels, y_prob: Column = None, **given: Any) -> Any:
            columns = {name: given.pop(name, None) for name in beside}
            return function(read(y_true, y_prob, **columns), **given)

        own, rows = signature(function), list(signature(measure, follow_wrapped=False).parameters.values())[:2]
        by_name = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in beside]
        parameters = sorted([*rows, *list(own.parameters.values())[1:], *by_name], key=lambda one: one.kind)
        vars(measure)["__signature__"] = Signature(parameters, return_annotation=own.return_annotation)
        return measure

    return decorate


def _read_tally(*rows: Any, **beside: Any) -> Tally:
    return samples.read_sample(*rows, **beside).tally


#: A function of a tally becomes one of `y_true`, `y_prob`, `sample_weight` and `pos_label`.
of_tally = reading(_read_tally, "sample_weight", "pos_label")
#: A function of a sample becomes one of the same and of `groups`.
of_sample = reading(samples.read_sample, "sample_weight", "pos_label", "groups")
#: A function of a sample of several classes becomes one of `y_true`, `y_prob`, a matrix, and `sample_weight`.
of_classes = reading(samples.read_classes, "sample_weight")
