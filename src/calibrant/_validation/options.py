"""Options of methods and functions: words, counts, numbers in a range, generators."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from calibrant._typing import RandomState
from calibrant._validation.labels import plain
from calibrant.errors import InvalidInputError


def check_choice(name: str, value: Any, options: Sequence[Any]) -> Any:
    """An option that must be one of a few words, booleans or None."""
    value = plain(value)
    if not (value is None or isinstance(value, str | bool)) or value not in options:
        hint = " Logits are decision scores." if (name, value) in (("space", "logits"), ("space", "logit")) else ""
        raise InvalidInputError(f"`{name}` must be one of {', '.join(map(str, options))}; got {value!r}.{hint}")
    return value


def check_count(name: str, value: Any, least: int = 1) -> int:
    """An integer option of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InvalidInputError(f"`{name}` must be an integer of at least {least}; got {plain(value)!r}.")
    return int(value)


#: The ranges of numeric options: what the value must do, and the test of it.
RANGES: dict[str, tuple[str, Callable[[float], bool]]] = {
    "positive": ("be a positive number", lambda v: 0.0 < v < np.inf),
    "not_negative": ("be a number of at least 0", lambda v: 0.0 <= v < np.inf),
    "level": ("lie strictly between 0 and 1, such as 0.9", lambda v: 0.0 < v < 1.0),
    "rate": ("lie between 0 and 1, both excluded", lambda v: 0.0 < v < 1.0),
    "share": ("be a share above 0 and at most 1", lambda v: 0.0 < v <= 1.0),
}


def check_number(name: str, value: Any, kind: str) -> float:
    """A numeric option in one of the `RANGES`."""
    words, inside = RANGES[kind]
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real) or not inside(float(value)):
        raise InvalidInputError(f"`{name}` must {words}; got {plain(value)!r}.")
    return float(value)


def check_level(level: Any) -> float:
    """The probability inside an interval, strictly between 0 and 1."""
    return check_number("level", level, "level")


def generator(random_state: RandomState) -> np.random.Generator:
    """Numpy's generator from whatever scikit-learn takes as `random_state`."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31 - 1, size=4))
    return np.random.default_rng(random_state)
