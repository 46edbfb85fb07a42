"""The direction of imports, the mirror of tests, and what importing the package may load."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "calibrant"


def read_levels():
    """The table under "Levels" in docs/design.md: a row for each level, its rooms in backticks, in order."""
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition("## Levels")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row[1]) for row in rows] == list(range(len(rows)))
    return [[name.removesuffix(".py").strip("/") for name in re.findall(r"`([^`]+)`", row[2])] for row in rows]


LEVELS = read_levels()
# A room comes after those of lower levels and those to its left; the helpers of the lowest level are one room.
PLACE = {name: (number, number and place) for number, level in enumerate(LEVELS) for place, name in enumerate(level)}

# `import calibrant` and `predict` stay cheap: these load where a feature needs them.
# (pandas, pyarrow and rich are not listed: scikit-learn imports them by itself where they are installed.)
HEAVY = ["Cython", "matplotlib", "polars", "ibis", "duckdb", "sqlglot", "onnx", "jinja2", "typer", "torch"]

FILES = sorted(SOURCE.rglob("*.py"))


def name_of(path):
    return path.relative_to(SOURCE).as_posix()


def top_of(path):
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


@functools.cache
def parse(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(path):
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            yield from ((f"{node.module}.{alias.name}", node) for alias in node.names)


@pytest.mark.parametrize("path", [p for p in FILES if p != SOURCE / "__init__.py"], ids=name_of)
def test_imports_point_downwards(path):
    own = top_of(path)
    assert own in PLACE, f"{own} has no level: give it one in docs/design.md"
    for target, _ in imports_of(path):
        parts = target.split(".")
        if parts[0] == "calibrant" and len(parts) > 1 and parts[1] in PLACE and parts[1] != own:
            below = PLACE[parts[1]] < PLACE[own] or PLACE[parts[1]] == PLACE[own] == (0, 0)
            assert below, f"{name_of(path)} imports {target}, which is not below it"


def test_every_level_names_files_that_exist():
    there = {top_of(path) for path in FILES} - {"__init__"}
    assert set(PLACE) == there
    assert len(LEVELS) <= 9


@pytest.mark.parametrize(
    "room", sorted({path.parent for path in FILES} - {SOURCE, SOURCE / "_compiled" / "avx2"}), ids=name_of
)
def test_every_room_has_its_tests(room):
    folder = ROOT / "tests" / room.relative_to(SOURCE)
    assert any(folder.glob("test_*.py")), f"{name_of(room)} has no tests in {folder.relative_to(ROOT)}"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_no_file_or_function_is_too_long(path):
    text = path.read_text(encoding="utf-8")
    tree = parse(path)
    docs = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
            docs.update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    lines = text.splitlines()
    code = {i for i, line in enumerate(lines, 1) if line.strip() and not line.strip().startswith("#") and i not in docs}
    assert len(code) <= 400, f"{name_of(path)} has {len(code)} lines of code"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            length = len(code & set(range(node.lineno, node.end_lineno + 1)))
            assert length <= 60, f"{name_of(path)}: {node.name} has {length} lines"


def loaded_after(statement):
    check = f"import sys; {statement}; print([m for m in {HEAVY} if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    return ast.literal_eval(result.stdout)


@pytest.mark.parametrize(
    "statement",
    [
        "import calibrant",
        "from calibrant import *",
        "import calibrant; calibrant.IsotonicCalibration().fit([0.1, 0.9], [0, 1]).predict([0.5])",
    ],
)
def test_light_imports(statement):
    assert loaded_after(statement) == []


def test_predict_of_a_saved_map_loads_nothing_heavy(tmp_path):
    path = tmp_path / "map.json"
    calibrant.IsotonicCalibration().fit([0.1, 0.9], [0, 1]).save(path)
    assert loaded_after(f"import calibrant; calibrant.load({str(path)!r})([0.5])") == []


def test_public_names_are_distinct_importable_and_few():
    assert len(set(calibrant.__all__)) == len(calibrant.__all__)  # ruff keeps it sorted
    assert len(calibrant.__all__) <= 32
    assert all(getattr(calibrant, name) is not None for name in calibrant.__all__)
    assert set(calibrant.__all__) <= set(dir(calibrant))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = calibrant.nonsense
