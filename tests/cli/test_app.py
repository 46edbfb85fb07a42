"""The command as a whole: help, version, errors without traces, and nothing half written."""

import resource
import subprocess
import sys
import warnings

import pytest

import calibrant
from calibrant.cli import app


def test_help_and_version(cli):
    text = cli("--help").out
    commands = ["fit", "apply", "evaluate", "compare", "report", "export", "monitor", "methods"]
    commands += ["replay", "adapt"]
    assert all(command in text for command in commands)
    assert cli("--version").out == f"calibrant {calibrant.__version__}\n"
    assert all(cli(command, "--help").code == 0 for command in commands)


def test_help_loads_nothing_heavy():
    heavy = ["sklearn", "numpy", "scipy", "duckdb", "ibis", "pyarrow", "pandas"]
    check = (
        "import sys; from calibrant.cli.app import run; code = run(['fit', '--help']); "
        f"print([m for m in {heavy} if m in sys.modules], code, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert result.stderr == "[] 0\n"


def test_the_folder_of_an_output_must_exist(refused, tmp_path, data):
    assert "does not exist" in refused("fit", data, "-o", tmp_path / "no" / "m.json")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["fit"], "Missing argument"),
        (["fit", "a.csv", "--scor", "x"], "No such option"),
        (["compare", "a.csv", "--folds", "many"], "Invalid value for '--folds'"),
    ],
)
def test_wrong_command_lines(cli, arguments, message):
    result = cli(*arguments)
    assert result.code == 2
    assert message in result.err
    assert "Traceback" not in result.err + result.out


def test_no_command_shows_the_help_and_nothing_else(cli):
    result = cli()
    assert result.code == 2
    assert "calibrant compare data.csv" in result.out + result.err
    assert "error:" not in result.err


@pytest.mark.parametrize("arguments", [["-q", "fit"], ["fit", "-q"], ["--quiet", "fit", "--quiet"]])
def test_quiet_before_and_behind_the_command(cli, data, arguments):
    assert "Scores are read" in cli("fit", data, "-m", "platt").err
    assert cli(*arguments, data, "-m", "platt").err == ""


def test_what_nobody_expected(cli, monkeypatch, data):
    def broken(*_args, **_kwargs):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("calibrant.engines.tables.detect_format", broken)
    result = cli("fit", data)
    assert result.code == 1
    assert result.err.startswith("error: Unexpected ZeroDivisionError")
    monkeypatch.setenv("CALIBRANT_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        app.run(["fit", str(data)])


@pytest.mark.filterwarnings("always")
def test_warnings_of_the_library_look_like_those_of_the_command(cli, data, monkeypatch):
    def warn(*_args):
        warnings.warn("few rows", UserWarning, stacklevel=1)
        return "csv"

    monkeypatch.setattr("calibrant.engines.tables.detect_format", warn)
    lines = cli("-q", "fit", data, "-m", "platt").err.splitlines()
    assert "warning: few rows" in lines
    assert all(line.startswith("warning: ") for line in lines)  # old versions of other packages have some of their own


def start(*arguments, **options):
    command = [sys.executable, "-m", "calibrant", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


def test_a_full_disk_leaves_the_old_file(cli, data, tmp_path):
    """A limit on the size of files stands for the full disk: the system refuses the same call."""
    model, output = tmp_path / "m.json", tmp_path / "out.csv"
    cli("fit", data, "-m", "platt", "-o", model)
    output.write_text("old")
    before = sorted(tmp_path.iterdir())

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    process = start("-q", "apply", model, data, "-o", output, preexec_fn=limit)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert err.splitlines()[0].startswith("error: The disk is full")
    assert "Traceback" not in err
    assert output.read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


def test_a_missing_extra_is_one_sentence():
    hidden = "import sys; sys.modules['typer'] = None; from calibrant.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == 'error: The command line needs typer and rich; run: pip install "calibrant[cli,tables]"\n'


def test_a_missing_engine_is_one_sentence(cli, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = cli("evaluate", data)
    assert result.code == 2
    assert 'run: pip install "calibrant[tables]"' in result.err
