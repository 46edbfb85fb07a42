"""Random bytes, tables, names, files and maps: a right answer or a sentence, never anything else.

A minute at most by default. ``CALIBRANT_FUZZ=50 pytest tests/fuzz`` tries fifty times as much; what it finds is kept by
hypothesis and tried again.
"""

import csv
import io
import json
import os
import string
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import calibrant
from calibrant import IsotonicCalibration, PlattScaling, SplineCalibration, engines
from calibrant.errors import InvalidInputError, ModelFileError
from calibrant.export import to_python
from calibrant.maps.files import checksum
from calibrant.maps.functions import Chain, Linear, Sigmoid, Step
from calibrant.maps.score import CalibrationMap

TIMES = float(os.environ.get("CALIBRANT_FUZZ", "1"))
SENTENCES = (InvalidInputError, ModelFileError)


def tries(n):
    return settings(
        max_examples=max(1, round(n * TIMES)),
        deadline=None,
        derandomize=TIMES == 1.0,  # the same in every run, new examples by hand
        suppress_health_check=[HealthCheck.too_slow],
        database=None,
    )


# Tables

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
FIELDS = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True).map(repr),
    st.floats(0, 1).map(repr),
    st.sampled_from(["0", "1", "true", "", "NA", "NULL", "-0", "1e400", "0x1p-3", "1,5", '"', "'", "=1+1", "\ufeff"]),
    TEXTS,
)


@st.composite
def csv_bytes(draw):
    names = draw(st.lists(TEXTS, max_size=3))
    rows = draw(st.lists(st.lists(FIELDS, min_size=2, max_size=5), max_size=8))
    out = io.StringIO()
    writer = csv.writer(
        out, delimiter=draw(st.sampled_from(",;\t|")), lineterminator=draw(st.sampled_from(["\n", "\r\n"]))
    )
    writer.writerow(["score", "label", *names])
    writer.writerows(rows)
    raw = out.getvalue().encode()
    return raw[: draw(st.integers(0, len(raw)))] if draw(st.booleans()) else raw


def read(name, raw):
    """Count the rows of a file, and add probabilities to it; the rows and bytes that were written, or None."""
    map_ = PlattScaling(space="decision").fit([-1.0, 0.0, 1.0, 2.0], [0, 1, 0, 1]).map_
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path, output = Path(folder, name), Path(folder, "out" + Path(name).suffix)
        path.write_bytes(raw)
        try:
            counted = engines.tally(path, score="score", label="label")
            assert counted.total >= counted.total_positive >= 0.0
        except SENTENCES:
            pass
        try:
            applied = engines.apply_file(map_, path, output)
        except SENTENCES:
            assert not output.exists()
            return None
        return applied.rows, output.read_bytes()


@tries(20)
@given(csv_bytes())
def test_any_csv_is_read_or_refused(raw):
    read("table.csv", raw)


@tries(20)
@given(st.binary(max_size=400), st.sampled_from([".csv", ".parquet", ".arrow", ".json", ".csv.gz", ""]))
def test_any_bytes_are_read_or_refused(raw, ending):
    read("table" + ending, raw)


@tries(25)
@given(st.data())
def test_damaged_parquet_is_read_or_refused(data):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(pyarrow.table({"score": [0.1, 0.9, None], "label": [0, 1, 1]}), sink)
    raw = bytearray(sink.getvalue().to_pybytes())
    for place in data.draw(st.lists(st.integers(0, len(raw) - 1), min_size=1, max_size=6)):
        raw[place] = data.draw(st.integers(0, 255))
    read("table.parquet", bytes(raw))


COLUMNS = st.lists(
    st.text(st.characters(codec="utf-8"), max_size=20).filter(lambda name: name != "probability"), max_size=4
)


@tries(20)
@given(COLUMNS)
def test_column_names_stay_or_are_refused(names):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = [pyarrow.array([0.1, 0.9]), pyarrow.array([0, 1]), *(pyarrow.array([i, -i]) for i in range(len(names)))]
    table = pyarrow.Table.from_arrays(columns, names=["score", "label", *names])
    sink = pyarrow.BufferOutputStream()
    parquet.write_table(table, sink)
    written = read("table.parquet", sink.getvalue().to_pybytes())
    if written is not None:
        back = parquet.ParquetFile(pyarrow.BufferReader(written[1])).read()
        assert back.column_names == [*table.column_names, "probability"]
        assert back.select(range(table.num_columns)).equals(table)


@tries(20)
@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.data())
def test_a_table_is_counted_as_arrays_are(scores, data):
    labels = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    pyarrow = pytest.importorskip("pyarrow")
    if 0.0 < max(scores) - min(scores) < 1e-200:
        return
    found = engines.tally(pyarrow.table({"s": scores, "y": labels}), score="s", label="y")
    assert found == calibrant.Tally.from_arrays(scores, labels)


# Model files

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def places(value, path=()):
    """Every place in a document, as the keys that lead to it."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(0)
    scores = rng.random(60)
    y = (rng.random(60) < scores).astype(int)
    out = []
    with TemporaryDirectory() as folder:
        for calibrator in (IsotonicCalibration(), PlattScaling(), SplineCalibration()):
            path = Path(folder, "map.json")
            calibrator.fit(scores, y).save(path)
            out.append(path.read_text())
    return out


def load(text):
    with TemporaryDirectory() as folder:
        path = Path(folder, "map.json")
        path.write_bytes(text)
        try:
            map_ = calibrant.load(path)
        except ModelFileError:
            return
    p = map_(np.linspace(0.0, 1.0, 11))
    assert ((p >= 0.0) & (p <= 1.0)).all()
    assert not map_.monotone or (np.diff(p) >= -1e-12).all()


@tries(100)
@given(data=st.data())
def test_a_changed_model_is_sound_or_refused(documents, data):
    document = json.loads(data.draw(st.sampled_from(documents)))
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from([place for place in places(document) if place]))
        inner = document
        for key in way:
            inner = inner[key]
        if data.draw(st.booleans()):
            inner[last] = data.draw(JUNK)
        else:
            del inner[last]
    document["checksum"] = checksum({key: value for key, value in document.items() if key != "checksum"})
    load(json.dumps(document).encode())


@tries(100)
@given(data=st.data())
def test_a_damaged_model_is_refused_or_harmless(documents, data):
    raw = bytearray(data.draw(st.sampled_from(documents)).encode())
    for place in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=4)):
        raw[place] = data.draw(st.integers(0, 255))
    load(bytes(raw[: data.draw(st.integers(0, len(raw)))]) if data.draw(st.booleans()) else bytes(raw))


# Maps

PROBABILITIES = st.floats(0.0, 1.0)


@st.composite
def functions(draw, depth=2):
    kind = draw(st.sampled_from(["step", "linear", "sigmoid", "chain"] if depth else ["step", "linear", "sigmoid"]))
    if kind == "sigmoid":
        return Sigmoid(draw(st.floats(-50, 50)), draw(st.floats(-50, 50)), "logit")
    if kind == "chain":
        return Chain(tuple(draw(st.lists(functions(depth=depth - 1), min_size=1, max_size=3))))
    x = sorted(draw(st.sets(PROBABILITIES, min_size=1, max_size=8)))
    y = draw(st.lists(PROBABILITIES, min_size=len(x) + 1, max_size=len(x) + 1))
    return Step(np.array(x), np.array(y)) if kind == "step" else Linear(np.array(x), np.array(y[1:]))


@tries(100)
@given(functions())
def test_a_map_survives_its_file_and_its_export(function):
    map_ = CalibrationMap(function, space="probability", method="Fuzz")
    at = np.linspace(0.0, 1.0, 41)
    with TemporaryDirectory() as folder:
        path = Path(folder, "map.json")
        map_.save(path)
        np.testing.assert_array_equal(calibrant.load(path)(at), map_(at))
    try:
        text = to_python(map_)
    except SENTENCES:
        return
    namespace = {"__name__": "exported"}
    exec(text, namespace)
    found = np.array([namespace["calibrate"](score) for score in at.tolist()])
    np.testing.assert_allclose(found, map_(at), rtol=0, atol=1e-9)


@tries(60)
@given(st.text(string.printable, max_size=12))
def test_any_name_is_written_or_refused(name):
    map_ = CalibrationMap(Sigmoid(1.0, 0.0, "logit"), space="probability", method="Fuzz")
    try:
        text = to_python(map_, name=name)
    except InvalidInputError:
        return
    namespace = {"__name__": "exported"}
    exec(text, namespace)
    assert namespace[name](0.5) == 0.5
