"""export writes what the library would, after running it, and nothing over its own model."""

import pytest


@pytest.mark.parametrize(("target", "sign"), [("sql", "CASE"), ("python", "def calibrate")])
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
    assert "--to must be one of sql, onnx, python; got None. Or name a file" in refused("export", model)
    assert "Or name a file such as -o map.sql." in refused("export", model, "-o", tmp_path / "m.txt")
    assert "--to must be one of sql, onnx, python; got java." in refused("export", model, "--to", "java")
    assert "data.csv is no model but a table" in refused("export", data, "--to", "sql")
    (tmp_path / "half.json").write_text(model.read_text()[:100])
    assert "not a calibrant model, or it was cut short" in refused("export", tmp_path / "half.json", "--to", "sql")
    assert "is an input and would be overwritten" in refused("export", model, "--to", "sql", "-o", model)


@pytest.mark.parametrize("target", ["sql", "onnx", "python"])
def test_options_of_other_targets_are_refused(cli, refused, data, tmp_path, target):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "platt", "-o", model)
    titles = {"sql": "SQL", "onnx": "ONNX", "python": "Python"}
    of_target = {"sql": ("--dialect", "--score", "--by", "--level"), "onnx": (), "python": ("--name", "--level")}
    values = {"--dialect": "postgres", "--score": "loans", "--by": "team", "--name": "f", "--level": "0.9"}
    for option, value in values.items():
        if option not in of_target[target]:
            message = refused("export", model, "--to", target, option, value, "-o", tmp_path / "out")
            assert message == f"{option} is not for {titles[target]}; leave it out."


def test_a_level_adds_the_ends_of_intervals(cli, refused, data, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "bayes_iso", "-o", model)
    assert cli("export", model, "--to", "sql", "--level", "0.9").out.rstrip().endswith("AS probability_high")
    assert "With the ends of its interval" in cli("export", model, "--to", "python", "--level", "0.9").out
    cli("fit", data, "-m", "platt", "-o", tmp_path / "platt.json")
    assert "need the posterior" in refused("export", tmp_path / "platt.json", "--to", "sql", "--level", "0.9")


def test_onnx_is_not_for_the_screen(refused, cli, data, tmp_path, monkeypatch):
    model = tmp_path / "model.json"
    cli("fit", data, "-m", "platt", "-o", model)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "ONNX is not for the screen" in refused("export", model, "--to", "onnx")


def test_several_classes_are_onnx_and_nothing_else(cli, refused, animals, tmp_path):
    model, output = tmp_path / "m.json", tmp_path / "m.onnx"
    cli("fit", animals, "-s", "p_cat,p_dog,p_fox", "-l", "animal", "-m", "vector_scaling", "-o", model)
    assert cli("export", model, "-o", output).code == 0
    assert b"probabilities" in output.read_bytes()
    for target in ("sql", "python"):
        assert "this is a map of several classes. Export it to ONNX" in refused("export", model, "--to", target)


@pytest.mark.parametrize("command", ["export", "apply"])
def test_the_model_is_loaded_once(cli, data, tmp_path, monkeypatch, command):
    from calibrant.maps import loading

    model, paths, load = tmp_path / "m.json", [], loading.load
    cli("fit", data, "-m", "platt", "-o", model)
    monkeypatch.setattr(loading, "load", lambda path: paths.append(path) or load(path))
    more = ("--to", "python") if command == "export" else (data, "-o", tmp_path / "out.csv")
    assert cli(command, model, *more).code == 0
    assert len(paths) == 1
