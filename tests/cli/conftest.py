"""A command line run in this process, and tables to run it on."""

from dataclasses import dataclass

import numpy as np
import pytest

from calibrant import simulate

pytest.importorskip("typer", reason="the command line needs the extra cli")
pytest.importorskip("duckdb", reason="reading tables needs the extra tables")


@pytest.fixture(autouse=True)
def loud(monkeypatch):
    """Messages are shown, whatever a test before has asked for."""
    from calibrant.cli import printing

    monkeypatch.setattr(printing.settings, "quiet", False)


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    """Intervals of 20 resamples by default: commands are to print what the library says, however exact it is."""
    from calibrant.metrics import evaluation

    monkeypatch.setitem(evaluation.evaluate.__kwdefaults__, "n_resamples", 20)
    monkeypatch.setattr("calibrant.report.data.RESAMPLES", 10)
    monkeypatch.setattr("calibrant.report.part_sections.RESAMPLED_ENTRIES", 0)  # the fewest


@dataclass
class Result:
    code: int
    out: str
    err: str


@pytest.fixture
def cli(capsys):
    from calibrant.cli.app import run

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Result(code, *capsys.readouterr())

    return call


@pytest.fixture
def refused(cli, tmp_path):
    """A command that must fail with one sentence, exit code 2, and no file made or changed."""

    def call(*arguments):
        before = {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")}
        result = cli(*arguments)
        assert result.code == 2, result
        assert result.out == ""
        errors = [line for line in result.err.splitlines() if line.startswith("error: ")]
        assert len(errors) == 1
        assert result.err.endswith(errors[0] + "\n")
        assert "Traceback" not in result.err
        assert {path: path.lstat().st_mtime_ns for path in tmp_path.rglob("*")} == before
        return errors[0].removeprefix("error: ")

    return call


@pytest.fixture
def data(tmp_path):
    """400 rows as CSV: score, label."""
    rows = simulate.from_truth("underconfident", 400)
    path = tmp_path / "data.csv"
    table = np.column_stack((rows.scores, rows.labels))
    np.savetxt(path, table, delimiter=",", header="score,label", comments="", fmt=("%.6f", "%d"))
    return path


@pytest.fixture
def animals(tmp_path):
    """300 rows of three classes, a weight and a region."""
    rng = np.random.default_rng(0)
    shares = rng.dirichlet((1, 1, 1), 300)
    names = np.array(["cat", "dog", "fox"])
    lines = ["p_cat,p_dog,p_fox,animal,region,w"]
    for share in shares:
        name = rng.choice(names, p=share)
        lines.append(f"{share[0]},{share[1]},{share[2]},{name},{rng.choice(['north', 'south'])},{rng.integers(1, 4)}")
    path = tmp_path / "animals.csv"
    path.write_text("\n".join(lines) + "\n")
    return path
