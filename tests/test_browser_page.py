"""The page "paste your scores", in Chromium: the numbers, the file and the SQL are those of Python."""

import json
from pathlib import Path

import numpy as np
import pytest

import calibrant
from calibrant.export import to_sql
from calibrant.export.sql import run_expression

PAGE = Path(__file__).parents[1] / "docs" / "browser.html"

RNG = np.random.default_rng(5)


def ten_digits(n):
    scores = RNG.random(n)
    return scores, RNG.random(n) < scores**2


def ties(n):
    scores, labels = ten_digits(n)
    return scores.round(1), labels


def logits(n):
    scores = 4.0 * RNG.standard_normal(n)
    return scores, RNG.random(n) < 1.0 / (1.0 + np.exp(-0.5 * scores))


def rounding(n):
    """Scores that differ by rounding alone, the ends, and what lies just below 1."""
    scores = RNG.choice([0.0, 0.1, 1 - (1 - 0.1), 0.1 + 0.2, 0.3, 1 - 1e-9, 1 - 2e-9, 1.0, 1e-12, 3e17, -1e-7], n)
    return scores, RNG.random(n) < 0.5


ROWS = {
    "two rows": (np.array([0.3, 0.7]), np.array([False, True])),
    "one score": (np.full(7, 0.5), np.arange(7) < 2),
    "few": ten_digits(60),
    "many": ten_digits(400),
    "ties": ties(500),
    "logits": logits(400),
    "the wrong way round": (-logits(400)[0], logits(400)[1]),
    "rounding": rounding(300),
}


@pytest.fixture(scope="module")
def page(driver):
    driver.get(PAGE.as_uri())
    return driver


def text_of(page, name):
    return page.execute_script("return document.getElementById(arguments[0]).textContent", name)


def paste(page, text, click="calibrate"):
    """Fill in the page and press the button; the answer is what is wrong, or nothing."""
    page.execute_async_script(
        """const [text, button, done] = arguments, wait = () => {
          if (!document.getElementById("result").hidden || document.getElementById("problem").textContent) done();
          else setTimeout(wait, 5);
        };
        if (text !== null) document.getElementById("rows").value = text;
        document.getElementById(button).click();
        wait();""",
        text,
        click,
    )
    return text_of(page, "problem")


def lines_of(scores, labels):
    return "\n".join(["score,label", *(f"{s!r},{int(y)}" for s, y in zip(scores.tolist(), labels, strict=True))])


@pytest.mark.parametrize("name", ROWS)
def test_map_file_and_sql_are_those_of_python(page, name, tmp_path):
    scores, labels = ROWS[name]
    assert paste(page, lines_of(scores, labels)) == ""
    python = calibrant.calibrators.VennAbers().fit(scores, labels)
    path, ours = tmp_path / "page.json", tmp_path / "python.json"
    path.write_text(text_of(page, "json"), encoding="utf-8")
    python.save(ours)
    theirs, expected = (json.loads(file.read_text(encoding="utf-8")) for file in (path, ours))
    assert theirs.pop("checksum").startswith("sha256:")
    assert theirs | {"checksum": expected["checksum"]} == expected  # to the last digit
    assert calibrant.load(path) == python.map_  # which checks the checksum and replays the test vector

    new = np.concatenate((scores, RNG.uniform(scores.min() - 1.0, scores.max() + 1.0, 200)))
    pairs = page.execute_script(
        "const maps = fit(tally(readRows(document.getElementById('rows').value)));"
        "return arguments[0].map((s) => [maps.merged, maps.low, maps.high].map((map) => predict(map, s)))",
        new.tolist(),
    )
    wanted = np.column_stack((python.predict(new), *python.predict_interval(new)))
    np.testing.assert_allclose(pairs, wanted, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("name", ROWS)
def test_sql_is_that_of_python(page, name):
    pytest.importorskip("sqlglot", reason="SQL needs the extra tables")
    scores, labels = ROWS[name]
    paste(page, lines_of(scores, labels))
    map_ = calibrant.calibrators.VennAbers().fit(scores, labels).map_
    assert len(map_.function.knots()) <= 400, "beyond it to_sql writes fewer pieces"
    assert text_of(page, "sql") == to_sql(map_).partition(" /*")[0]


def test_sql_of_many_pieces_is_the_map(page):
    pytest.importorskip("duckdb", reason="SQL is run by DuckDB")
    scores, labels = logits(4000)
    paste(page, lines_of(scores, labels))
    map_ = calibrant.calibrators.VennAbers().fit(scores, labels).map_
    assert len(map_.function.knots()) > 400
    new = np.append(scores[::7], [np.nan, np.inf])
    found = run_expression(text_of(page, "sql"), "duckdb", {"score": new.tolist()})
    np.testing.assert_array_equal(found, np.append(map_(new[:-2]), [np.nan, np.nan]))


def test_layouts_of_rows(page):
    """Separators, names, labels and empty lines that tables have; all of them mean the same rows."""
    rows = [("0.1", 0), ("2e-1", 1), (".3", 0), ("+0.4", 1)]
    layouts = [
        "\n".join(f"{s},{y}" for s, y in rows),
        "score;label\r\n" + "\r\n".join(f"{s} ; {y}" for s, y in rows) + "\r\n\r\n",
        "p\ty\n" + "\n".join(f"{s}\t{bool(y)}" for s, y in rows),
        "\n".join(f"{s} {2 * y - 1}" for s, y in rows),
        '"score","label"\n' + "\n".join(f'"{s}", "{y}.0"' for s, y in rows),
    ]
    assert paste(page, layouts[0]) == ""
    first = text_of(page, "json")
    for layout in layouts[1:]:
        assert paste(page, layout) == ""
        assert text_of(page, "json") == first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Rows of both labels are needed; got 0 rows"),
        ("0.1,1\n0.2,1", "got 2 rows, of which 2 are positive"),
        ("0.1,0\n0.2", "Line 2 must hold a score and a label"),
        ("0.1,0\n0,2,1", "write decimals with a point"),
        ("0.1,0\nnan,1", "The score must be a finite number"),
        ("0.1,0\n1e999,1", "The score must be a finite number"),
        ("0.1,0\n0.2,churn", "The label must be 0 or 1"),
        ("0.1,0\n0.2,-1\n0.3,1", "Keep two values"),
    ],
)
def test_what_is_wrong_is_said(page, text, words):
    assert words in paste(page, text)
    assert page.execute_script("return document.getElementById('result').hidden")


def test_example_picture_words_and_other_scores(page):
    paste(page, None, "example")
    assert text_of(page, "words").startswith("400 rows, 265 of them positive (66.3 %), with 400 distinct scores.")
    line = page.execute_script("return [...document.querySelector('.map').points].map((p) => [p.x, p.y])")
    right = [(p[0] - 50.0) / 580.0 for p in line], [(340.0 - p[1]) / 330.0 for p in line]
    assert line == sorted(line, key=lambda p: p[0])
    np.testing.assert_allclose(np.interp([0.25, 0.5, 0.8], *right), np.sqrt([0.25, 0.5, 0.8]), atol=0.1)
    page.execute_script(
        "const box = document.getElementById('others'); box.value = '0.25, x'; box.dispatchEvent(new Event('input'))"
    )
    cells = page.execute_script("return [...document.querySelectorAll('#answers td')].map((c) => c.textContent)")
    assert cells[:5] == ["score", "probability", "p0", "p1", "0.25"]
    assert cells[8:] == ["x", "no finite number", "", ""]
    p, low, high = map(float, cells[5:8])
    assert low <= p <= high
    assert abs(p - 0.5) < 0.1


def test_scores_the_wrong_way_round_are_named(page):
    paste(page, "1,1\n2,1\n3,0\n4,0")
    assert "turn them round" in text_of(page, "words")


def test_nothing_is_sent_anywhere(page):
    """The page loads nothing but itself, and its own policy refuses every request."""
    page.get_log("performance")
    page.get(PAGE.as_uri())
    paste(page, None, "example")
    events = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    asked = {e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"}
    assert {url for url in asked if url.startswith(("http", "file"))} == {PAGE.as_uri()}
    assert [entry for entry in page.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    refused = page.execute_async_script(
        "const done = arguments[0]; document.addEventListener('securitypolicyviolation', (e) => "
        "done(e.effectiveDirective)); fetch('http://127.0.0.1:9/').catch(() => 0)"
    )
    assert refused == "connect-src"
    page.get_log("browser")  # the refusal stands there, too
