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


def test_methods_by_the_names_of_other_libraries(refused, data):
    assert "There is no method 'sigmoid'. It is called 'platt' here." in refused("fit", data, "-m", "sigmoid")
    assert "Did you mean 'isotonic'" in refused("fit", data, "-m", "isotonc")


def test_a_table_in_place_of_a_model(refused, cli, data, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "platt", "-o", model)
    assert "data.csv is no model but a table; name the model first" in refused("apply", data, model)
    assert "is an input and would be overwritten" in refused("apply", model, data, "-o", model)
