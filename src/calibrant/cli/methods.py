"""methods: the calibration methods, those of other packages included; and models in files."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

from calibrant.cli import options
from calibrant.cli.errors import Problem
from calibrant.cli.printing import print_json, print_table

if TYPE_CHECKING:
    from calibrant.maps import CalibrationMap

__all__ = ["check_method", "first_line", "load_model", "method_names", "methods"]


def method_names() -> list[str]:
    """List the names of all methods."""
    from calibrant.calibrators import registry

    return list(registry.names())


def check_method(*names: str | None) -> None:
    """Refuse a method that does not exist before any data are read."""
    known = method_names()
    for name in names:
        if name is not None and name not in known:
            near = difflib.get_close_matches(name, known, n=2, cutoff=0.5)
            hint = f"Did you mean {' or '.join(near)}?" if near else "`calibrant methods` lists them."
            raise Problem(f"There is no method {name!r}. {hint}")


def load_model(path: str) -> CalibrationMap:
    """Load the map in a file."""
    from calibrant.engines.table_files import find_files
    from calibrant.maps import load

    return load(find_files(path)[0])


def methods(as_json: options.As_json = False) -> None:
    """List the calibration methods and what each can do."""
    rows = [_describe(name) for name in method_names()]
    if as_json:
        print_json(rows)
        return
    texts = [
        [
            row["name"] + (" (default)" if row["default"] else ""),
            row["scores"],
            "yes" if row["monotone"] else "no",
            "yes" if row["intervals"] else "no",
            row["summary"],
        ]
        for row in rows
    ]
    print_table("", ["method", "scores", "monotone", "intervals", "what it does"], texts, left=5)


def _describe(name: str) -> dict[str, Any]:
    from calibrant.calibrators import registry

    cls = registry.get(name)
    decision = "space" in cls._get_param_names() or getattr(cls, "space", "") == "real"
    return {
        "name": name,
        "default": name == registry.DEFAULT_METHOD,
        "class": cls.__name__,
        "summary": getattr(cls, "description", "") or first_line(cls),
        "scores": "any" if decision else "probabilities",
        "monotone": cls.monotone is True,
        "intervals": cls.bayesian,
        "reference": cls.reference,
    }


def first_line(documented: Any) -> str:
    """Return what something is, without the marks of documentation."""
    return (inspect.getdoc(documented) or "").partition("\n")[0].replace("``", "").replace("`", "")
