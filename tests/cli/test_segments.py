"""Models of segments: fitted with --by, applied by the names of their columns."""

import json

import numpy as np
import pandas as pd
import pytest

import calibrant


@pytest.fixture(scope="module")
def all_rows():
    rng = np.random.default_rng(8)
    n = 3000
    country, device = rng.choice(["de", "fr", "us"], n), rng.choice([1, 2], n)
    score = rng.uniform(0.02, 0.98, n)
    logits = np.log(score / (1 - score)) + np.where(country == "fr", 0.9, 0.0) - np.where(device == 2, 0.6, 0.0)
    label = (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(int)
    return pd.DataFrame({"score": score, "label": label, "country": country, "device": device})


@pytest.fixture
def rows(all_rows):
    return all_rows.copy()


@pytest.fixture(scope="module")
def model(all_rows, tmp_path_factory):
    """A model of two keys, as fit writes it."""
    path = tmp_path_factory.mktemp("model") / "m.json"
    keys = all_rows[["country", "device"]]
    calibrant.SegmentedCalibrator("platt").fit(all_rows["score"], all_rows["label"], segment=keys).save(path)
    return path


@pytest.fixture
def table(rows, tmp_path):
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    return path


def test_fit_and_apply_are_the_library(cli, rows, table, tmp_path):
    model, output = tmp_path / "m.json", tmp_path / "out.csv"
    result = cli("fit", table, "--by", "country", "--by", "device", "-m", "platt", "-o", model)
    assert result.code == 0
    assert "SegmentedCalibrator fitted to 3000 rows" in result.err
    assert "of 5 segments differ from the pooled map" in result.err
    assert "country = fr (+0." in result.err
    assert cli("apply", model, table, "-o", output).code == 0
    keys = ["country", "device"]
    expected = calibrant.SegmentedCalibrator("platt").fit(rows["score"], rows["label"], segment=rows[keys])
    written = pd.read_csv(output)
    np.testing.assert_allclose(written["probability"], expected.predict(rows["score"], segment=rows[keys]), atol=1e-9)
    assert list(written)[:4] == list(rows)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_every_format_gives_the_same(cli, rows, table, model, tmp_path, ending):
    output = tmp_path / f"out.{ending}"
    source = tmp_path / "rows.parquet"
    rows.astype({"country": "category"}).to_parquet(source)
    for one in (table, source):
        assert cli("apply", model, one, "--only-new", "-o", output).code == 0
        import duckdb

        new = duckdb.connect().execute(f"SELECT probability FROM '{output}'").fetchnumpy()["probability"]
        np.testing.assert_allclose(new, calibrant.load(model)(rows["score"], rows[["country", "device"]]))


def test_columns_can_be_renamed_and_new_segments_are_counted(cli, rows, table, tmp_path):
    model, other = tmp_path / "m.json", tmp_path / "other.csv"
    cli("fit", table, "--by", "country", "-m", "platt", "-o", model)
    changed = rows.rename(columns={"country": "nation"})
    changed.loc[:4, "nation"] = ["mt", "mt", "cy", "mt", "de"]
    changed.to_csv(other, index=False)
    result = cli("apply", model, other, "--by", "nation", "-o", tmp_path / "out.csv")
    assert "4 rows have a segment that the fit did not see; for these rows the pooled map is used" in result.err
    new = pd.read_csv(tmp_path / "out.csv")["probability"]
    np.testing.assert_allclose(new[:4], calibrant.load(model).pooled(rows["score"][:4]))


def test_missing_segments_are_refused_or_one(cli, refused, rows, tmp_path):
    path, model, output = tmp_path / "gaps.csv", tmp_path / "m.json", tmp_path / "out.csv"
    rows.loc[::10, "country"] = None
    rows.to_csv(path, index=False)
    fit = ("fit", path, "--by", "country", "-m", "platt", "-o", model)
    assert "--by 'country' is missing in 300 rows; fill it, or add --missing segment" in refused(*fit)
    assert cli(*fit, "--missing", "segment").code == 0
    assert calibrant.load(model).keys.levels == (("de", "fr", "us", None),)
    assert cli("apply", model, path, "-o", output).err.count("did not see") == 0
    assert "must have no missing segments" in refused("apply", model, path, "--missing", "error", "-o", output)


def test_what_does_not_fit_is_said(refused, cli, rows, table, tmp_path):
    model, plain = tmp_path / "m.json", tmp_path / "plain.json"
    cli("fit", table, "--by", "device", "-m", "platt", "-o", model)
    cli("fit", table, "-m", "platt", "-o", plain)
    output = ("-o", tmp_path / "out.csv")
    assert "there is no 'nation'" in refused("fit", table, "--by", "nation", *output)
    assert "--missing is about segments" in refused("fit", table, "--missing", "segment", *output)
    assert "for each key of the fit" in refused("apply", model, table, "--by", "device,country", *output)
    assert "are for a model of segments" in refused("apply", plain, table, "--by", "device", *output)
    assert "held numbers in the fit" in refused("apply", model, table, "--by", "country", *output)
    assert "a model of segments; name the columns of the segments" in refused("evaluate", table, "--model", model)
    assert "estimates are for models of one score" in refused("estimate", model, table)
    rows["when"] = pd.Timestamp("2026-01-01 06:00")
    rows.to_parquet(tmp_path / "times.parquet")
    assert "text, numbers, booleans or dates" in refused("fit", tmp_path / "times.parquet", "--by", "when", *output)


def test_evaluate_takes_a_model_of_segments(cli, rows, table, model):
    keys = ["country", "device"]
    found = json.loads(cli("evaluate", table, "--by", "country,device", "--model", model, "--json").out)
    probabilities = calibrant.load(model)(rows["score"], rows[keys])
    expected = calibrant.metrics.log_loss(rows["label"], probabilities)
    assert found["models"]["model"]["log_loss"]["value"] == pytest.approx(expected, abs=1e-12)
    assert {part["name"] for part in found["parts"]} == {f"{a} · {b}" for a in ("de", "fr", "us") for b in (1, 2)}


def test_the_summary_is_plain(cli, table, tmp_path):
    result = cli("fit", table, "--by", "country", "-m", "platt", "--json", "-o", tmp_path / "m.json")
    summary = json.loads(result.out)
    assert summary["keys"] == ["country"]
    assert [row["segment"] for row in summary["segments"]] == ["de", "fr", "us"]


def test_decision_scores(cli, rows, tmp_path):
    path, model, output = tmp_path / "rows.parquet", tmp_path / "m.json", tmp_path / "out.parquet"
    rows["score"] = 3 * np.log(rows["score"] / (1 - rows["score"]))
    rows.to_parquet(path)
    assert cli("fit", path, "--by", "country", "-m", "spline", "--space", "decision", "-o", model).code == 0
    assert cli("apply", model, path, "-o", output).code == 0
    new = pd.read_parquet(output)["probability"]
    np.testing.assert_array_equal(new, calibrant.load(model)(rows["score"], rows["country"]))


def test_export(cli, refused, table, tmp_path):
    model, plain = tmp_path / "m.json", tmp_path / "plain.json"
    cli("fit", table, "--by", "country", "-m", "platt", "-o", model)
    cli("fit", table, "-m", "platt", "-o", plain)
    text = cli("export", model, "--to", "sql", "--by", "nation", "-s", "p").out
    assert text.startswith('CASE WHEN "p" BETWEEN 0E+00 AND 1E+00 THEN CASE WHEN "nation" IS NULL THEN NULL WHEN')
    refusal = refused("export", model, "--to", "onnx", "-o", tmp_path / "m.onnx")
    assert "this is a map of segments. Export it to SQL" in refusal
    assert "--by is for a map of segments" in refused("export", plain, "--to", "sql", "--by", "nation")


def test_days_that_pandas_wrote_as_times_are_dates(cli, refused, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    columns = "(i % 20 + 0.5) / 20 AS score, (i % 20) * (i % 7) > 40 AS label"
    table = f"SELECT TIMESTAMP '2025-01-01' + INTERVAL 1 DAY * (i % 2) AS day, {columns} FROM range(400) t(i)"
    path, model, output = tmp_path / "days.parquet", tmp_path / "m.json", tmp_path / "out.csv"
    duckdb.sql(table).write_parquet(str(path))
    assert cli("fit", path, "--by", "day", "-m", "platt", "-o", model).code == 0
    assert calibrant.load(model).keys.levels == (("2025-01-01", "2025-01-02"),)
    result = cli("apply", model, path, "-o", output)
    assert result.code == 0
    assert "did not see" not in result.err
    assert "2025-01-02" in cli("evaluate", path, "--by", "day").out
    duckdb.sql(table.replace("DAY *", "HOUR *")).write_parquet(str(path))
    assert "'day' is of type timestamp. Make such a column" in refused("evaluate", path, "--by", "day")
