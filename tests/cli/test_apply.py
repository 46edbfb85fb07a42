"""apply writes the map's own numbers beside columns that stay as they are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import calibrant
from calibrant.maps.matrix import MatrixMember


def column(path, name):
    import duckdb

    return duckdb.connect().execute(f"SELECT {name} FROM '{path}'").fetchnumpy()[name]


def test_fit_and_apply_are_the_library(cli, data, tmp_path):
    model, output = tmp_path / "model.json", tmp_path / "out.csv"
    assert cli("fit", data, "-m", "isotonic", "-o", model).code == 0
    result = cli("apply", model, data, "-o", output)
    assert result.code == 0
    assert "400 rows calibrated" in result.err
    scores, labels = column(data, "score"), column(data, "label")
    expected = calibrant.IsotonicCalibration().fit(scores, labels)
    np.testing.assert_array_equal(column(output, "probability"), expected.predict(scores))
    np.testing.assert_array_equal(column(output, "label"), labels)
    assert not list(tmp_path.glob(".*"))


def test_several_classes(cli, refused, animals, tmp_path):
    scores, model, output = "p_fox,p_cat,p_dog", tmp_path / "m.json", tmp_path / "out.parquet"
    assert cli("fit", animals, "-s", scores, "-l", "animal", "-w", "w", "-o", model).code == 0
    matrix = np.column_stack([column(animals, name) for name in ("p_fox", "p_cat", "p_dog")])
    expected = calibrant.load(model)(matrix)
    for more in ([], ["-s", "p_cat,p_dog,p_fox"]):  # names tell more than their order
        assert cli("apply", model, animals, *more, "-o", output).code == 0
        new = [column(output, f"probability_{name}") for name in ("fox", "cat", "dog")]
        np.testing.assert_array_equal(np.transpose(new), expected)
    assert "--score must name the 3 columns of the map's classes" in refused(
        "apply", model, animals, "-s", "p_cat,p_dog"
    )
    assert "--top-label is for a model of one score" in refused("apply", model, animals, "--top-label")
    other = tmp_path / "other.csv"
    other.write_text(animals.read_text().replace("p_", "q_"))
    assert "there is no 'p_fox'" in refused("apply", model, other)
    assert cli("apply", model, other, "-s", "q_fox,q_cat,q_dog", "-o", output).code == 0
    np.testing.assert_array_equal(column(output, "probability_fox"), expected[:, 0])


def test_true_and_false_are_the_scores_one_and_zero(cli, refused, data, tmp_path):
    model, output = tmp_path / "m.json", tmp_path / "out.parquet"
    cli("fit", data, "-m", "platt", "-o", model)
    pq.write_table(pa.table({"score": [True, False, True]}), tmp_path / "truth.parquet")
    assert cli("apply", model, tmp_path / "truth.parquet", "-o", output).code == 0
    np.testing.assert_allclose(column(output, "probability"), calibrant.load(model)([1.0, 0.0, 1.0]))
    (tmp_path / "words.csv").write_text("score\ntrue\nfalse\n")
    assert "The scores in 'score' must be numbers" in refused("apply", model, tmp_path / "words.csv")


def test_the_highest_score_of_several(cli, refused, animals, tmp_path):
    scores, top, output = "p_cat,p_dog,p_fox", tmp_path / "top.json", tmp_path / "out.parquet"
    assert cli("fit", animals, "-s", scores, "-l", "animal", "-m", "platt", "--top-label", "-o", top).code == 0
    assert "add --top-label" in refused("apply", top, animals, "-s", scores)
    assert "--top-label needs the score columns" in refused("apply", top, animals, "-s", "p_cat", "--top-label")
    assert cli("apply", top, animals, "-s", scores, "--top-label", "-o", output).code == 0
    highest = np.max([column(animals, name) for name in scores.split(",")], axis=0)
    np.testing.assert_allclose(column(output, "probability"), calibrant.load(top)(highest))


def test_a_model_without_names_takes_the_classes(cli, tmp_path):
    rows, model = tmp_path / "rows.csv", tmp_path / "m.json"
    rows.write_text("b,a\n1,2\n,0\n")
    calibrant.MatrixMap(("a", "b"), "decision", 0.0, (MatrixMember(1.0),)).save(model)
    result = cli("apply", model, rows)
    assert result.out.splitlines() == ["b,a,probability_a,probability_b", "1,2,0.5,0.5", ",0,,"]
    assert "warning: 1 rows have scores that are missing" in result.err


def test_unusable_scores_are_counted(cli, data, tmp_path):
    model, rows = tmp_path / "m.json", tmp_path / "rows.csv"
    cli("fit", data, "-m", "platt", "-o", model)
    rows.write_text("score,id\n0.5,1\n,2\n7,3\n0.6,4\n")
    result = cli("apply", model, rows)
    assert result.out.splitlines()[2:4] == [",2,", "7,3,"]
    assert "warning: 2 rows have scores that are missing" in result.err


def test_models_and_endings_are_checked(refused, cli, data, tmp_path):
    model = tmp_path / "m.json"
    cli("fit", data, "-m", "platt", "-o", model)
    assert "There is no file" in refused("apply", tmp_path / "n.json", data)
    assert "does not say the format" in refused("apply", model, data, "-o", tmp_path / "out.xls")


def test_a_name_with_a_comma_is_one_column(cli, data, tmp_path):
    model, table = tmp_path / "m.json", tmp_path / "odd.csv"
    cli("fit", data, "-m", "platt", "-o", model)
    table.write_text('"score, raw",id\n0.5,1\n')
    assert cli("apply", model, table, "-s", "score, raw").code == 0


@pytest.fixture
def model(cli, data, tmp_path):
    path = tmp_path / "model.json"
    assert cli("-q", "fit", data, "-m", "platt", "-o", path).code == 0
    return path


def test_standard_output_is_csv(cli, data, model):
    result = cli("-q", "apply", model, data, "--name", "p")
    assert result.err == ""
    assert result.out.splitlines()[0] == "score,label,p"
    assert len(result.out.splitlines()) == 401


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_table_is_calibrated_in_its_place(cli, data, model, tmp_path, ending):
    import duckdb

    table = tmp_path / f"table.{ending}"
    duckdb.sql(f"COPY (FROM '{data}') TO '{table}'")
    table.chmod(0o640)
    result = cli("apply", model, table, "-o", table)
    assert (result.code, result.out) == (0, "")
    assert "400 rows calibrated" in result.err
    np.testing.assert_array_equal(column(table, "probability"), calibrant.load(model)(column(data, "score")))
    assert table.stat().st_mode & 0o777 == 0o640
    assert "already has a column 'probability'; choose another with --name" in cli("apply", model, table).err
    assert cli("apply", model, table, "-o", table, "--name", "again").code == 0
    assert duckdb.sql(f"FROM '{table}'").columns == ["score", "label", "probability", "again"]
    assert not list(tmp_path.glob(".*"))


def test_only_new(cli, data, model, tmp_path):
    assert cli("-q", "apply", model, data, "--only-new").out.splitlines()[0] == "probability"
    cli("apply", model, data, "--only-new", "-o", tmp_path / "p.parquet")
    assert pq.read_schema(tmp_path / "p.parquet").names == ["probability"]


def test_a_path_that_exists_is_that_file(cli, model, tmp_path):
    """DuckDB takes g[1] for a pattern that means g1."""
    one, other, output = tmp_path / "g[1].parquet", tmp_path / "g1.parquet", tmp_path / "out.parquet"
    for path, scores in ((one, [0.1, 0.2, 0.3]), (other, [0.9, 0.8, 0.7])):
        pq.write_table(pa.table({"score": scores}), path)
    assert cli("apply", model, one, "-o", output).code == 0
    assert column(output, "score").tolist() == [0.1, 0.2, 0.3]
    np.testing.assert_array_equal(column(output, "probability"), calibrant.load(model)([0.1, 0.2, 0.3]))


def test_what_cannot_be_kept_is_named_with_the_option(refused, model, tmp_path):
    path = tmp_path / "nested.parquet"
    pq.write_table(pa.table({"score": [0.5], "words": [["a"]]}), path)
    message = refused("apply", model, path, "-o", tmp_path / "out.csv")
    assert message.startswith("Column 'words' of type list")
    assert "only the new column, with --only-new" in message


def test_several_files_and_packed_ones(cli, model, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("id,score\n007,0.5\n")
    assert cli("apply", model, tmp_path / "?.csv", "-o", tmp_path / "out.csv.gz").code == 0
    assert column(tmp_path / "out.csv.gz", "score").tolist() == [0.5, 0.5]


def test_names_that_are_long_or_lead_in_circles(cli, refused, data, model, tmp_path):
    assert cli("apply", model, data, "-o", tmp_path / ("x" * 246 + ".csv")).code == 0
    (tmp_path / "one.csv").symlink_to(tmp_path / "two.csv")
    (tmp_path / "two.csv").symlink_to(tmp_path / "one.csv")
    assert "too many levels of symbolic links" in refused("apply", model, data, "-o", tmp_path / "one.csv")
    (tmp_path / "lost.csv").symlink_to(tmp_path / "nowhere" / "x.csv")
    assert f"The folder {tmp_path / 'nowhere'} does not exist" in refused(
        "apply", model, data, "-o", tmp_path / "lost.csv"
    )


def test_scores_on_another_scale(cli, refused, tmp_path):
    shares, percent = tmp_path / "shares.csv", tmp_path / "percent.csv"
    lines = [(i % 97 / 97, int(i % 97 > 48)) for i in range(300)]
    shares.write_text("score,label\n" + "".join(f"{s},{y}\n" for s, y in lines))
    percent.write_text("score,label\n" + "".join(f"{100 * s},{y}\n" for s, y in lines))
    fit = ("fit", percent, "-m", "platt", "-o", tmp_path / "percent.json")
    assert "Divide percentages by 100. Margins, logits and other decision scores need --space decision" in refused(*fit)
    assert cli(*fit, "--space", "decision").code == 0
    result = cli("apply", tmp_path / "percent.json", shares, "-o", tmp_path / "out.csv")
    assert result.code == 0
    assert "the model was fitted to scores from about 0 to 98.97. Are they on the same scale?" in result.err
    assert cli("fit", shares, "-m", "beta", "-o", tmp_path / "shares.json").code == 0
    assert "on the same scale?" not in cli("apply", tmp_path / "shares.json", shares, "-o", tmp_path / "out.csv").err
    message = refused("apply", tmp_path / "shares.json", percent, "-o", tmp_path / "none.csv")
    assert "so nothing was written" in message
    assert not (tmp_path / "none.csv").exists()


def test_decimal_commas_are_refused_with_advice(refused, tmp_path):
    rows = tmp_path / "rows.csv"
    rows.write_text("score;label\n" + "".join(f"0,{i % 10}5;{int(i % 10 > 4)}\n" for i in range(60)))
    assert "such as '0,05'. Write decimals with a point" in refused("fit", rows, "-m", "isotonic")


@pytest.mark.parametrize("shape", ["score", "matrix", "segments"])
def test_intervals_are_columns(cli, refused, data, animals, tmp_path, shape):
    model, output = tmp_path / "m.json", tmp_path / "out.parquet"
    names, table, more = ["probability"], data, ()
    if shape == "matrix":
        names, table = [f"probability_{name}" for name in ("cat", "dog", "fox")], animals
        more = ("-s", "p_cat,p_dog,p_fox", "-l", "animal")
    if shape == "segments":
        rows = data.read_text().splitlines()
        data.write_text("\n".join([f"{rows[0]},team", *(f"{row},{'ab'[i % 2]}" for i, row in enumerate(rows[1:]))]))
        more = ("--by", "team")
    cli("fit", table, *more, "-o", model)
    assert cli("apply", model, table, "-o", output, "--level", "0.8").code == 0
    map_ = calibrant.load(model)
    scores = np.column_stack([column(table, name) for name in map_.columns]) if more[:1] == ("-s",) else None
    scores = column(table, "score") if scores is None else scores
    how = {"segment": list(column(table, "team"))} if shape == "segments" else {}
    for end, expected in zip(("low", "high"), map_.predict_interval(scores, 0.8, **how), strict=True):
        found = np.column_stack([column(output, f"{name}_{end}") for name in names])
        np.testing.assert_allclose(found, np.asarray(expected).reshape(found.shape), rtol=1e-12)
    assert "--level must" in refused("apply", model, table, "-o", output, "--level", "9")


def test_intervals_need_a_posterior(refused, data, model, tmp_path):
    assert "need the posterior of a Bayesian method" in refused(
        "apply", model, data, "--level", "0.9", "-o", tmp_path / "out.csv"
    )


def test_strict_makes_warnings_an_exit_code(cli, data, model, tmp_path):
    holes = tmp_path / "holes.csv"
    holes.write_text('score\n0.5\n0.6\n""\n')
    for strict, code in ((), 0), (("--strict",), 5):
        result = cli("apply", model, holes, *strict, "-o", tmp_path / "out.csv")
        assert result.code == code
        assert "warning: 1 rows have scores that are missing" in result.err
    assert cli("--strict", "apply", model, data, "-o", tmp_path / "out.csv").code == 0


def test_columns_in_names_of_folders(cli, refused, model, tmp_path):
    for day, score in (("2026-01-01", 0.2), ("2026-01-02", 0.7)):
        folder = tmp_path / "big" / f"day={day}"
        folder.mkdir(parents=True)
        pq.write_table(pa.table({"score": [score, 0.5], "label": [0, 1]}), folder / "part.parquet")
    assert cli("apply", model, tmp_path / "big", "-o", tmp_path / "out.parquet").code == 0
    assert [str(day) for day in pq.read_table(tmp_path / "out.parquet")["day"].to_pylist()] == [
        *["2026-01-01"] * 2,
        *["2026-01-02"] * 2,
    ]
    assert cli("apply", model, tmp_path / "big", "-o", f"{tmp_path}/out/").code == 0
    folders = pq.read_table(tmp_path / "out" / "day=2026-01-02")
    assert folders.equals(pq.read_table(tmp_path / "out.parquet").drop(["day"]).slice(2))
    assert "is a folder" in refused("apply", model, tmp_path / "big", "-o", f"{tmp_path}/out/")
    flat = tmp_path / "big" / "day=2026-01-01" / "part.parquet"
    assert "name a file" in refused("apply", model, flat, "-o", f"{tmp_path}/other/")
    assert "leave out `only_new`" in refused("apply", model, tmp_path / "big", "-o", f"{tmp_path}/other/", "--only-new")
    assert sorted(path.name for path in tmp_path.iterdir() if "other" in path.name or "calibrant" in path.name) == []
    by_day = cli("evaluate", tmp_path / "big", "--by", "day")
    assert by_day.code == 0
    assert "2026-01-02" in by_day.out
    tallies = calibrant.engines.tally(tmp_path / "big", score="score", label="label", by="day")
    assert [tally.total for tally in tallies.values()] == [2, 2]
