"""What the shell is told about options."""

import pytest

from calibrant.cli.options import complete_method


@pytest.mark.parametrize(
    ("typed", "expected"),
    [("bl", ["blend"]), ("platt,iso", ["platt,isotonic"]), ("isotonic,", None), ("x", [])],
)
def test_methods_are_completed(typed, expected):
    found = complete_method(typed)
    if expected is None:
        assert "isotonic,blend" in found
    else:
        assert found == expected


def test_the_shell_gets_them():
    from typer.testing import CliRunner

    from calibrant.cli.app import app

    asked = {"_CALIBRANT_COMPLETE": "complete_bash", "COMP_WORDS": "calibrant fit x.csv -m pl", "COMP_CWORD": "4"}
    assert CliRunner().invoke(app, [], prog_name="calibrant", env=asked).output.split() == ["platt"]
