"""export writes what the library would, after running it, and nothing over its own model."""

import pytest


@pytest.mark.parametrize(("target", "sign"), [("sql", "CASE"), ("python", "def calibrate"), ("schema", "$schema")])
def test_export(cli, data, tmp_path, target, sign):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "isotonic", "-o", model)
    result = cli("export", model, "--to", target)
    assert result.code == 0
    assert sign in result.out


def test_export_by_ending_and_refusals(cli, refused, data, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "platt", "-o", model)
    assert cli("export", model, "-o", tmp_path / "m.py", "--name", "f").code == 0
    assert "def f(" in (tmp_path / "m.py").read_text()
    assert "Say what to write with --to" in refused("export", model)
    assert "Say what to write with --to" in refused("export", model, "-o", tmp_path / "m.txt")
    assert "--to must be one of sql, onnx, python, c, schema; got java." in refused("export", model, "--to", "java")
    assert "data.csv is no model but a table" in refused("export", data, "--to", "sql")
    (tmp_path / "half.json").write_text(model.read_text()[:100])
    assert "not a calibrant model, or it was cut short" in refused("export", tmp_path / "half.json", "--to", "sql")
    assert "is an input and would be overwritten" in refused("export", model, "--to", "sql", "-o", model)


def test_onnx_is_not_for_the_screen(refused, cli, data, tmp_path, monkeypatch):
    model = tmp_path / "model.json"
    cli("fit", data, "-m", "platt", "-o", model)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "ONNX is not for the screen" in refused("export", model, "--to", "onnx")


@pytest.mark.parametrize(
    ("ending", "sign"), [("sql", 'FROM "animals"'), ("py", "def calibrate(scores)"), ("c", "calibrate("), ("onnx", "")]
)
def test_several_classes(cli, refused, animals, tmp_path, ending, sign):
    model, output = tmp_path / "m.json", tmp_path / f"m.{ending}"
    cli("fit", animals, "-s", "p_cat,p_dog,p_fox", "-l", "animal", "-m", "vector_scaling", "-o", model)
    more = ("--table", "animals", "--keep", "region,w") if ending == "sql" else ()
    assert cli("export", model, "-o", output, *more).code == 0
    if ending == "sql":
        text = output.read_text()
        assert all(f'"{name}"' in text for name in ("p_cat", "p_dog", "p_fox", "region", "w", "calibrated_cat"))
        assert "must name the 3 score columns; got 2" in refused("export", model, "--to", "sql", "-s", "a,b")
    assert sign.encode() in output.read_bytes()
