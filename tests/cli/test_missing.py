import duckdb
import pytest

import calibrant
from calibrant.cli.columns import Columns
from calibrant.cli.missing import describe_missing, drop_missing
from calibrant.engines.tables import Table

ROWS = "VALUES (0.1, 1), (NULL, 0), ('nan'::DOUBLE, NULL), (0.7, NULL), ('inf'::DOUBLE, 1), (0.4, 0)"


@pytest.fixture
def table():
    return Table("rows", duckdb.connect().sql(f"SELECT col0::DOUBLE AS score, col1 AS label FROM ({ROWS})"))


def test_missing_values_are_counted(table):
    assert (
        describe_missing(table, Columns(("score",), "label"))
        == "3 of 6 rows have no score and 2 of 6 rows have no label."
    )
    whole = Table("rows", table.relation.filter("isfinite(score) AND label IS NOT NULL"))
    assert describe_missing(whole, Columns(("score",), "label")) is None


def test_rows_with_both_are_kept(table, capsys):
    kept = drop_missing(table, Columns(("score",), "label"))
    assert kept.values("SELECT * FROM rows") == [(0.1, 1), (0.4, 0)]
    assert "Such rows are left out." in capsys.readouterr().err


def test_commands_say_how_many_and_leave_them_out(cli, refused, data, tmp_path):
    holes = tmp_path / "holes.csv"
    lines = data.read_text().splitlines()
    place = lines[0].split(",").index("score")
    for i in (3, 7):
        fields = lines[i].split(",")
        fields[place] = ""
        lines[i] = ",".join(fields)
    holes.write_text("\n".join(lines) + "\n")
    model = tmp_path / "model.json"
    assert "2 of 400 rows have no score. Add --drop-missing" in refused("fit", holes, "-o", model)
    result = cli("fit", holes, "--drop-missing", "-m", "platt", "-o", model)
    assert result.code == 0
    assert "fitted to 398 rows" in result.err
    assert isinstance(calibrant.load(model), calibrant.CalibrationMap)
    for command in ("evaluate", "compare"):
        more = ["-m", "platt"] if command == "compare" else []
        assert cli(command, holes, "--drop-missing", *more).code == 0
