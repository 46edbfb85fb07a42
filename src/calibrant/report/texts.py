"""The sentences of the page, which stand in `texts.toml` by section; a section fills in what it found."""

import tomllib
from importlib import resources
from typing import Any

TEXTS: dict[str, Any] = tomllib.loads((resources.files(__package__) / "texts.toml").read_text("utf-8"))


def say(section: str, name: str, /, **facts: Any) -> str:
    """The text of that name with its places filled; a place that has no fact raises.

    Examples
    --------
    >>> from calibrant.report.texts import say
    >>> say("methods", "alt", methods=2)
    'Change of the log-loss by 2 methods, with intervals. All values are in the table below the figure.'
    """
    text: str = TEXTS[section][name]
    return text.format(**facts)
