"""Every Python example in the texts runs as printed."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = [
    pytest.param(code, id=f"{path.name}-{number}")
    for path in [ROOT / "README.md"]
    for number, code in enumerate(re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL))
]


@pytest.mark.parametrize("code", BLOCKS)
def test_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


def test_the_readme_lists_every_method():
    from calibrant.calibrators.registry import METHODS

    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [cls for _, cls in METHODS.values() if f"`{cls}`" not in text] == []


def test_every_script_that_the_readme_names_exists():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"scripts/[a-z]+", text))
    assert {"scripts/demo", "scripts/test"} <= named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
