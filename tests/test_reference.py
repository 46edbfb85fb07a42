"""Every public name is in the reference, with an example; and nothing is there that does not exist."""

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
PUBLIC = [
    "calibrant",
    "calibrant.adjust",
    "calibrant.calibrators",
    "calibrant.calibrators.base",
    "calibrant.calibrators.registry",
    "calibrant.comparison",
    "calibrant.decisions",
    "calibrant.displays",
    "calibrant.engines",
    "calibrant.errors",
    "calibrant.estimates",
    "calibrant.export",
    "calibrant.maps.functions",
    "calibrant.metrics",
    "calibrant.monitoring",
    "calibrant.multiclass.base",
    "calibrant.reliability",
    "calibrant.report",
    "calibrant.simulate",
]
TABLE = re.compile(r"\.\. currentmodule:: (\S+)\n(.*?)```", re.DOTALL)


def listed():
    """All (module, name) of the tables of the reference."""
    for path in sorted(REFERENCE.glob("*.md")):
        for module, table in TABLE.findall(path.read_text(encoding="utf-8")):
            yield from ((module, name) for name in re.findall(r"^   (\w+)$", table, re.MULTILINE))


def names():
    for module in PUBLIC:
        for name in import_module(module).__all__:
            if not inspect.ismodule(getattr(import_module(module), name)):
                yield pytest.param(module, name, id=f"{module}.{name}")


LISTED = [getattr(import_module(module), name) for module, name in listed()]


def test_the_reference_lists_nothing_twice():
    assert len({id(thing) for thing in LISTED}) == len(LISTED)


@pytest.mark.parametrize(("module", "name"), list(names()))
def test_public_name_is_in_the_reference_with_an_example(module, name):
    thing = getattr(import_module(module), name)
    assert any(thing is other for other in LISTED), "add it to a page in docs/reference"
    if inspect.isclass(thing) or inspect.isroutine(thing):
        text = inspect.getdoc(thing) or ""
        assert "\nExamples\n--------\n>>> " in text, "its docstring has no section Examples"


@pytest.mark.parametrize(("module", "name"), list(names()))
def test_intervals_have_one_level_everywhere(module, name):
    thing = getattr(import_module(module), name)
    if name == "ACP":  # its level is a parameter of the method, with the value of the paper
        return
    for key, part in [("", thing), *inspect.getmembers(thing)]:
        if (inspect.isfunction(part) or inspect.ismethod(part)) and not key.startswith("_"):
            level = inspect.signature(part).parameters.get("level")
            assert level is None or level.default in (level.empty, None, 0.9)


def test_every_command_is_in_the_reference():
    typer = pytest.importorskip("typer", reason="the command line needs the extra cli")
    from calibrant.cli.app import app

    text = (REFERENCE / "command-line.md").read_text(encoding="utf-8")
    assert set(re.findall(r"```\{command\} (\w+)", text)) == set(typer.main.get_command(app).commands)
