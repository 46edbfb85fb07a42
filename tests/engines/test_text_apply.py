"""Columns of CSV keep their text, objects of JSON their entries."""

import gzip
import json

import pytest

pytest.importorskip("pyarrow", reason="tables need the extra tables")
pytest.importorskip("duckdb", reason="tables need the extra tables")

from calibrant import IsotonicCalibration
from calibrant.engines import apply_file
from calibrant.errors import InvalidInputError

STEPS = IsotonicCalibration(target_correction=False).fit([0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1]).map_  # 0.2 → 0, 0.8 → 1


def applied(tmp_path, ending, text, **options):
    source, output = tmp_path / f"in.{ending}", tmp_path / f"out.{ending}"
    source.write_bytes(text.encode("utf-8", "surrogateescape"))
    result = apply_file(STEPS, source, output, **options)
    return output.read_bytes().decode("utf-8", "surrogateescape"), result


CSV = {
    "plain": ("id,score\n007,0.20\n", "id,score,probability\n007,0.20,0.0\n"),
    "quotes": ('"id","score"\n"a ""b"", c",0.8\n', 'id,score,probability\n"a ""b"", c",0.8,1.0\n'),
    "a line break inside quotes": ('id,score\n"x\r\ny",0.8\n', 'id,score,probability\n"x\r\ny",0.8,1.0\n'),
    "lines of Windows": ("id,score\r\n1,0.8\r\n", "id,score,probability\n1,0.8,1.0\n"),
    "no end of the last line": ("id,score\n1,0.8", "id,score,probability\n1,0.8,1.0\n"),
    "another delimiter": ("id;score\n1;0.8\n", "id;score;probability\n1;0.8;1.0\n"),
    "a mark at the beginning": ("\ufeffscore,id\n0.8,1\n", "score,id,probability\n0.8,1,1.0\n"),
    "missing": ('id,score\n"",\n,0.8\n', "id,score,probability\n,,\n,0.8,1.0\n"),
    "spaces, and numbers written oddly": ("id,score\n 1 , 8e-1\n", "id,score,probability\n 1 , 8e-1,1.0\n"),
    "empty lines": ("id,score\n1,0.8\n\n2,0.2\n", "id,score,probability\n1,0.8,1.0\n2,0.2,0.0\n"),
    "an index without a name": (",score\n4,0.8\n", "column0,score,probability\n4,0.8,1.0\n"),
    "dates and times": ("score,day\n0.8,2024-1-02 3:04\n", "score,day,probability\n0.8,2024-1-02 3:04,1.0\n"),
    "words alone beside the score": (
        "id,score\nNaN,0.8\nnull,0.2\n",
        "id,score,probability\nNaN,0.8,1.0\nnull,0.2,0.0\n",
    ),
    "letters of any language": ("é,score\nü,0.8\n", "é,score,probability\nü,0.8,1.0\n"),
}


@pytest.mark.parametrize("case", CSV)
def test_csv(tmp_path, case):
    before, after = CSV[case]
    assert applied(tmp_path, "csv", before)[0] == after


def test_only_the_new_column(tmp_path):
    assert applied(tmp_path, "csv", "id,score\n1,0.8\n", only_new=True)[0] == "probability\n1.0\n"
    assert applied(tmp_path, "jsonl", '{"score": 0.8}\n', only_new=True)[0] == '{"probability":1.0}\n'


def test_a_name_that_needs_quotes(tmp_path):
    assert applied(tmp_path, "csv", "score\n0.8\n", name="p, new")[0] == 'score,"p, new"\n0.8,1.0\n'


def test_a_long_table_keeps_its_order(tmp_path):
    """It is read by several threads, and is longer than a batch."""
    lines = [f"{i:07d},{(i * 7919 % 1000) / 1000}" for i in range(400_000)]
    text, result = applied(tmp_path, "csv", "\n".join(["id,score", *lines, ""]))
    assert [line.rpartition(",")[0] for line in text.splitlines()[1:]] == lines
    assert result.rows == 400_000


def test_json_lines(tmp_path):
    lines = ['{"score": 0.80, "x": {"deep": [1.5, 2.5]}}', '{"x": null}', "{}", '{ "score" : 1 }', '{"score": 0.2}']
    text, result = applied(tmp_path, "jsonl", "\n".join(lines) + "\n\n")
    assert [list(json.loads(line).values()) for line in text.splitlines()] == [
        [0.8, {"deep": [1.5, 2.5]}, 1.0],
        [None, None, None],
        [None, None, None],
        [1.0, None, 1.0],
        [0.2, None, 0.0],
    ]
    assert result[:3] == (5, 2, ["probability"])


def test_several_files(tmp_path):
    for name, rows in (("1", ""), ("2", "a,0.8\n"), ("3", "b,0.2\n")):
        (tmp_path / f"in{name}.csv").write_text(f"id,score\n{rows}")
    files = [tmp_path / "in2.csv", tmp_path / "in1.csv", tmp_path / "in3.csv"]
    apply_file(STEPS, files, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "id,score,probability\na,0.8,1.0\nb,0.2,0.0\n"
    (tmp_path / "in4.csv").write_text("score,id\n0.8,c\n")
    apply_file(STEPS, [*files, tmp_path / "in4.csv"], tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[-1] == "c,0.8,1.0"


def test_packed_files(tmp_path):
    source, output = tmp_path / "in.csv.gz", tmp_path / "out.csv.gz"
    source.write_bytes(gzip.compress(b"score\n0.8\n"))
    apply_file(STEPS, source, output)
    assert gzip.decompress(output.read_bytes()) == b"score,probability\n0.8,1.0\n"


MANY = "x,0.5\n" * 30_000
BROKEN = {
    "a word far down": ("csv", f"id,score\n{MANY}x,abc\n", "scores in 'score' must be numbers: .*'abc'"),
    "a wide line far down": ("csv", f"id,score\n{MANY}x,0.5,7\n", "in.csv could not be read: .*Line: 30002"),
    "two columns of one name": ("csv", "a,a,score\n1,2,0.5\n", "has 2 columns 'a'; rename one"),
    "values of several types": (
        "jsonl",
        '{"score": 0.5, "x": 1}\n{"score": 0.5, "x": {"y": 2}}\n',
        "Column 'x' has values of",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_refusals_leave_nothing_behind(tmp_path, case):
    name, text, message = BROKEN[case]
    with pytest.raises(InvalidInputError, match=message):
        applied(tmp_path, name, text)
    assert [path.name for path in tmp_path.iterdir()] == [f"in.{name}"]
